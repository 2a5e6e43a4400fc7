// Package machinetest boots machines for tests of drivers with their hardware: hosts with
// one NIC each, two of them on a wire. Only tests import it.
package machinetest

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

const (
	// EtherTest is the EtherType of what hosts say: IEEE 802 local experimental.
	EtherTest = 0x88b5

	memory     = 48 << 20
	negotiated = 3 * time.Second       // links are up, queues empty
	step       = 10 * time.Millisecond // for a few frames
)

// Host is a machine with one NIC, in the stepped executor on a manual clock.
type Host struct {
	*machine.Machine
	Out rig.Console // what it printed
	Got [][]byte    // payloads that it received

	t   testing.TB
	dev string
}

// NewHost boots a machine with two CPUs and the chip of a driver as unit 0, which is up,
// on the wire of a fabric. work is shared by those who can reach each other.
func NewHost(t testing.TB, driver, chip string, fabric *port.Fabric, work *hw.WorkList) *Host {
	t.Helper()
	h := &Host{t: t, dev: driver + "0"}
	hint := "hint." + driver + ".0."
	m, err := machine.Boot(machine.Config{
		NCPU: 2, MemSize: memory, Fabric: fabric, Work: work, Console: &h.Out,
		Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true,
		Files: fstest.MapFS{
			"boot/device.hints": {Data: []byte(hint + "port=\"pair:wire0\"\n" + hint + "device=\"" + chip + "\"\n")},
			"etc/rc.conf":       {Data: []byte("hostname=\"h\"\nifconfig_" + h.dev + "=\"up\"\n")},
		}})
	h.must(err)
	h.Machine = m
	t.Cleanup(func() { h.must(m.Close()) })
	t.Cleanup(ifnet.RegisterProtocol(m.Kernel(), EtherTest, func(c *mbuf.Cache, _ *ifnet.Ifnet, p *mbuf.Mbuf) {
		b := make([]byte, p.Length())
		p.CopyData(0, b)
		c.FreeChain(p)
		h.Got = append(h.Got, b)
	}))
	return h
}

func (h *Host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// NIC is the host's interface.
func (h *Host) NIC() *ifnet.Ifnet { return h.Ifnet(h.dev) }

// Send transmits a frame with a payload to another host.
func (h *Host) Send(to *Host, payload []byte) {
	h.t.Helper()
	z := mbuf.Of(h.Kernel())
	c := z.Borrow()
	defer z.Return(c)
	dst, src := to.NIC().MAC(), h.NIC().MAC()
	b := append(append(append(append([]byte(nil), dst[:]...), src[:]...), EtherTest>>8, EtherTest&0xff), payload...)
	p := c.GetHdr()
	if p == nil || !c.Append(p, b) {
		h.t.Fatal("no mbufs")
	}
	h.must(h.NIC().Transmit(p))
}

// Hosts are two machines on a wire.
type Hosts [2]*Host

// NewHosts boots two machines with the chips of a driver.
func NewHosts(t testing.TB, driver, chip0, chip1 string) Hosts {
	t.Helper()
	fabric, work := port.NewFabric(pair.Kind()), hw.NewWorkList()
	return Hosts{NewHost(t, driver, chip0, fabric, work), NewHost(t, driver, chip1, fabric, work)}
}

// Settle lets both talk until there is nothing left to say.
func (p Hosts) Settle() {
	for range p {
		for _, h := range p {
			h.Kernel().Advance(negotiated)
			h.Kernel().RunUntilIdle()
		}
	}
}

// Talk has each host send 60 frames of growing length to the other, and fails unless they
// arrive, in order, and the hardware of neither complains.
func (p Hosts) Talk(t testing.TB) {
	t.Helper()
	const rounds, shortest, more = 60, 46, 20
	payload := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, shortest+more*i) }
	p.Settle()
	for i := range rounds {
		for j, h := range p {
			h.Send(p[1-j], payload(i))
		}
		for _, h := range p {
			h.Kernel().Advance(step)
		}
	}
	p.Settle()
	for _, h := range p {
		if len(h.Got) != rounds {
			t.Errorf("%d of %d frames arrived", len(h.Got), rounds)
		}
		for i, b := range h.Got {
			if !bytes.Equal(b, payload(i)) {
				t.Fatalf("frame %d has %d bytes: %x", i, len(b), b[:min(len(b), shortest)])
			}
		}
		if out := h.Out.String(); strings.Contains(out, "refused") || strings.Contains(out, "fault") {
			t.Errorf("the hardware complains: %s", out)
		}
	}
}
