package igb

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/sysctl"
)

// addFlagMasks makes the leaves that choose the TCP flags which the segments of a packet
// keep (spec 1g 7.2). They show and change the part's registers; a reset restores what it
// has at power-up.
func (sc *softc) addFlagMasks() {
	c, n := sc.ctx.SysctlCtx(), sc.ctx.SysctlNode()
	for _, m := range []struct {
		name, descr string
		reg         uint64
		shift       int
	}{
		{"tso_tcp_flags_mask_first_segment", "TSO TCP flags mask for first segment", e1000reg.DTXTCPFLGL, 0},
		{"tso_tcp_flags_mask_middle_segment", "TSO TCP flags mask for middle segment", e1000reg.DTXTCPFLGL,
			e1000reg.DTXMiddleShift},
		{"tso_tcp_flags_mask_last_segment", "TSO TCP flags mask for last segment", e1000reg.DTXTCPFLGH, 0},
	} {
		c.Proc(n, m.name, sysctl.RW, sysctl.KindInt, "", func(req *sysctl.Request) error {
			return sc.flagMask(req, m.reg, m.shift)
		}, m.descr)
	}
}

// flagMask serves one of them (em_sysctl_tso_tcp_flags_mask). The error wraps EINVAL for
// more than 12 bits.
func (sc *softc) flagMask(req *sysctl.Request, reg uint64, shift int) error {
	val, written, err := req.HandleInt(int64(sc.Regs.Read32(reg) >> shift & e1000reg.DTXFlagsMask))
	if err != nil || !written {
		return err
	}
	if val < 0 || val > e1000reg.DTXFlagsMask {
		return fmt.Errorf("TCP flags %#x: %w", val, syscall.EINVAL)
	}
	sc.Regs.Change(reg, e1000reg.DTXFlagsMask<<shift, uint32(val)<<shift)
	return nil
}
