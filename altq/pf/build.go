package pf

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf/conf"
)

// Built is an interface's discipline with its queues, which no interface has.
type Built struct {
	Interface  conf.Altq
	Discipline altq.Discipline
	QIDs       map[string]altq.QID // by name of queue
}

// Build makes the disciplines of a configuration without a packet filter, one for each
// interface that it names, for links that are simulated. Errors are those of
// [PF.Load].
func Build(cfg conf.Config) ([]Built, error) {
	names, err := nameTable(nil).renew(cfg)
	if err != nil {
		return nil, err
	}
	ifs, err := group(cfg.Altqs, names)
	if err != nil {
		return nil, err
	}
	var list []Built
	for _, i := range ifs {
		b := Built{Interface: i.conf, Discipline: i.disc, QIDs: make(map[string]altq.QID)}
		for _, q := range i.queues {
			b.QIDs[q.conf.Qname] = q.qid
		}
		list = append(list, b)
	}
	return list, nil
}
