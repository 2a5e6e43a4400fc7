package e1000

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/sysctl"
)

// AddEEE makes eee_control and, where the part counts it, how often the port went idle
// (spec 1g 7.2).
func (c *Common) AddEEE(counts bool) {
	oids, n := c.ctx.SysctlCtx(), c.ctx.SysctlNode()
	oids.Proc(n, "eee_control", sysctl.RW, sysctl.KindInt, "", c.eeeHandler, "Disable Energy Efficient Ethernet")
	if !counts {
		return
	}
	node := oids.Node(n, "eee", sysctl.RD, "Energy Efficient Ethernet Statistics")
	count := func(reg uint64) func() uint64 { return func() uint64 { return c.Stats.Sum(reg) } }
	oids.Func(node, "tx_lpi_count", sysctl.RD, sysctl.KindU64, count(emreg.TLPIC), "TX LPI Count")
	oids.Func(node, "rx_lpi_count", sysctl.RD, sysctl.KindU64, count(emreg.RLPIC), "RX LPI Count")
}

// EEEStats are the counters behind the node eee.
func EEEStats() []Stat { return []Stat{{Reg: emreg.TLPIC}, {Reg: emreg.RLPIC}} }

// eeeHandler serves eee_control: 1 while EEE is off (em_sysctl_eee). The interface is
// initialised anew.
func (c *Common) eeeHandler(req *sysctl.Request) error {
	val, written, err := req.HandleInt(int64(c.EEEOff.Load()))
	if err != nil || !written {
		return err
	}
	c.SetEEEOff(val != 0)
	c.Reinit()
	return nil
}

// SetEEEOff sets EEEOff.
func (c *Common) SetEEEOff(off bool) {
	v := int32(0)
	if off {
		v = 1
	}
	c.EEEOff.Store(v)
}

// Reinit has the admin task initialise the interface anew, if it is up.
func (c *Common) Reinit() {
	c.ctx.RequestResetIfUp()
	c.ctx.AdminIntrDeferred()
}
