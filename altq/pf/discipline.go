package pf

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/cbq"
	"github.com/ifsim/ifsim/altq/codel"
	"github.com/ifsim/ifsim/altq/fairq"
	"github.com/ifsim/ifsim/altq/hfsc"
	"github.com/ifsim/ifsim/altq/priq"
)

// newDiscipline makes a discipline without queues; nil for a type that is not known.
func newDiscipline(t altq.Type, c altq.Config) altq.Discipline {
	switch t {
	case altq.TypeCBQ:
		return cbq.New(c)
	case altq.TypePRIQ:
		return priq.New(c)
	case altq.TypeHFSC:
		return hfsc.New(c)
	case altq.TypeFAIRQ:
		return fairq.New(c)
	case altq.TypeCoDel:
		return codel.New(c)
	}
	return nil
}
