package pf

import (
	"maps"
	"syscall"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf/conf"
)

// maxQID is the largest number of a queue (TAGID_MAX).
const maxQID = 50000

// nameTable gives queues their numbers, the same on all interfaces (pf_qname2qid). It
// does not change once made; nil is empty.
type nameTable map[string]altq.QID

// renew is the table for a configuration: names that stay keep their numbers, new ones
// get the lowest that neither table uses. EBUSY: too many names.
func (t nameTable) renew(cfg conf.Config) (nameTable, error) {
	next := make(nameTable)
	taken := make(map[altq.QID]bool)
	for id := range maps.Values(t) {
		taken[id] = true
	}
	free := altq.QID(1)
	add := func(name string) error {
		if name == "" || next[name] != 0 {
			return nil
		}
		id := t[name]
		for ; id == 0; free++ {
			if free > maxQID {
				return addError(syscall.EBUSY, "more than %d names of queues", maxQID)
			}
			if !taken[free] {
				id = free
			}
		}
		next[name] = id
		return nil
	}
	for i := range cfg.Altqs {
		if err := add(cfg.Altqs[i].Qname); err != nil {
			return nil, err
		}
	}
	for i := range cfg.Rules {
		for _, name := range [...]string{cfg.Rules[i].Qname, cfg.Rules[i].PQname} {
			if err := add(name); err != nil {
				return nil, err
			}
		}
	}
	return next, nil
}
