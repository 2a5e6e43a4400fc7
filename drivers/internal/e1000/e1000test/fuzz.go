package e1000test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/physmem"
)

// Rings are the words of the rings of a part with advanced descriptors, transmit and
// receive, as the driver told the board of them. The queues' owners must not run
// meanwhile.
func (m *Machine) Rings(b *Board) (words [][]uint64) {
	add := func(at uint64) {
		addr := uint64(b.Reg(at+e1000reg.BAH))<<32 | uint64(b.Reg(at+e1000reg.BAL))
		words = append(words, m.K.Mem.Words64(physmem.Addr(addr), int(b.Reg(at+e1000reg.LEN)/8)))
	}
	for i := range m.Ctx.NTxqs() {
		add(e1000reg.TxQueue(i))
	}
	for i := range m.Ctx.NRxqs() {
		add(e1000reg.RxQueue(i))
	}
	return words
}

// FuzzDevice attaches a card that answers and writes back garbage, with spoilAttach from
// the beginning, and lets the driver work on it. Attach may fail.
func FuzzDevice(t *testing.T, drv *iflib.Driver, c *Card, spoilAttach bool, g *Garbage) {
	if spoilAttach {
		c.Fuzz = g.Spoil
	}
	m := Attach(t, 2, drv, c, nil)
	if m.Ctx == nil {
		return
	}
	c.Fuzz = g.Spoil
	m.Must(m.Ctx.Ifp().Ioctl(ifnet.IoctlSetFlags, m.Ctx.Ifp().Flags()|ifnet.FlagUp))
	m.K.RunUntilIdle()
	for _, words := range m.Rings(c.Board) {
		for i := range words {
			iflib.StoreRelaxed64(&words[i], g.Word())
		}
	}
	for v := range m.Ctx.NRxqs() + 1 {
		m.Ctx.Function().RaiseMSIX(v)
	}
	for i := range m.Ctx.NTxqs() {
		m.Ctx.TxIntrDeferred(i)
	}
	for i := range m.Ctx.NRxqs() {
		m.Ctx.RxIntrDeferred(i)
	}
	m.Ctx.Device().(iflib.Timer).Timer(0)
	c.SetReg(emreg.ICR, uint32(g.Word()))
	m.K.RunUntilIdle()
	for _, leaf := range []string{"reg_dump", "fw_version", "queue_tx_0.txd_head"} {
		m.Text("dev." + drv.Name + ".0." + leaf)
	}
	c.Fuzz = nil // detach checks the machine's books, not the part
	m.K.RunUntilIdle()
}
