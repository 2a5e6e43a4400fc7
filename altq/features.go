package altq

import (
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// features are the parts of ALTQ and their descriptions (SYSCTL_NODE and _INT below
// kern.features.altq, spec altq 0).
var features = []struct{ name, descr string }{
	{"cbq", "ALTQ Class Based Queuing discipline"},
	{"codel", "ALTQ Controlled Delay discipline"},
	{"red", "ALTQ Random Early Detection discipline"},
	{"rio", "ALTQ Random Early Drop discipline"},
	{"hfsc", "ALTQ Hierarchical Packet Scheduler discipline"},
	{"priq", "ALTQ Priority Queuing discipline"},
	{"fairq", "ALTQ Fair Queuing discipline"},
}

// Init tells of ALTQ in kern.features.altq: each part reads 1. Once a kernel.
func Init(k *kern.Kernel) error {
	c := k.Sysctl.StaticCtx()
	parent, err := k.Sysctl.Lookup("kern.features")
	if err != nil {
		return err
	}
	node := c.Node(parent, "altq", sysctl.RD|sysctl.CapRD, "ALTQ packet queuing")
	for _, f := range features {
		c.ConstInt(node, f.name, sysctl.RD|sysctl.CapRD, 1, f.descr)
	}
	return nil
}
