package emhw_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

const etherTest = 0x88b5 // IEEE 802 local experimental

// host is a machine with em0 and what it printed and received.
type host struct {
	*machine.Machine
	out *rig.Console
	got [][]byte
}

func newHost(t *testing.T, chip string, fabric *port.Fabric, work *hw.WorkList) *host {
	t.Helper()
	h := &host{out: &rig.Console{}}
	m, err := machine.Boot(machine.Config{
		NCPU: 2, MemSize: 48 << 20, Fabric: fabric, Work: work, Console: h.out,
		Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true,
		Files: fstest.MapFS{
			"boot/device.hints": {Data: []byte("hint.em.0.port=\"pair:wire0\"\nhint.em.0.device=\"" + chip + "\"\n")},
			"etc/rc.conf":       {Data: []byte("hostname=\"h\"\nifconfig_em0=\"up\"\n")},
		}})
	must(t, err)
	h.Machine = m
	t.Cleanup(func() { must(t, m.Close()) })
	cancel := ifnet.RegisterProtocol(m.Kernel(), etherTest, func(c *mbuf.Cache, _ *ifnet.Ifnet, p *mbuf.Mbuf) {
		b := make([]byte, p.Length())
		p.CopyData(0, b)
		c.FreeChain(p)
		h.got = append(h.got, b)
	})
	t.Cleanup(cancel)
	return h
}

// hosts are two machines on a wire.
type hosts [2]*host

func newHosts(t *testing.T, chip0, chip1 string) hosts {
	t.Helper()
	fabric, work := port.NewFabric(pair.Kind()), hw.NewWorkList()
	return hosts{newHost(t, chip0, fabric, work), newHost(t, chip1, fabric, work)}
}

// settle lets both talk until there is nothing left to say.
func (p hosts) settle() {
	for range 2 {
		for _, h := range p {
			h.Kernel().Advance(3 * time.Second)
			h.Kernel().RunUntilIdle()
		}
	}
}

// send transmits a frame of the host to another.
func (h *host) send(t *testing.T, to *host, payload []byte) {
	t.Helper()
	z := mbuf.Of(h.Kernel())
	c := z.Borrow()
	defer z.Return(c)
	dst, src := to.Ifnet("em0").MAC(), h.Ifnet("em0").MAC()
	b := append(append(append(append([]byte(nil), dst[:]...), src[:]...), etherTest>>8, etherTest&0xff), payload...)
	p := c.GetHdr()
	if p == nil || !c.Append(p, b) {
		t.Fatal("no mbufs")
	}
	must(t, h.Ifnet("em0").Transmit(p))
}

// The driver attaches to every chip, brings its link up, and breaks no rule while two
// hosts talk.
func TestDriverWorksWithEveryChip(t *testing.T) {
	for _, chip := range emhw.Chips() {
		t.Run(chip, func(t *testing.T) {
			hosts := newHosts(t, chip, chip)
			hosts.settle()
			const rounds = 60
			for i := range rounds {
				for j, h := range hosts {
					h.send(t, hosts[1-j], bytes.Repeat([]byte{byte(i)}, 46+20*i))
				}
				for _, h := range hosts {
					h.Kernel().Advance(10 * time.Millisecond)
				}
			}
			hosts.settle()
			for _, h := range hosts {
				if len(h.got) != rounds {
					t.Errorf("%d of %d frames arrived", len(h.got), rounds)
				}
				for i, b := range h.got {
					if !bytes.Equal(b, bytes.Repeat([]byte{byte(i)}, 46+20*i)) {
						t.Fatalf("frame %d has %d bytes: %x", i, len(b), b[:8])
					}
				}
				if out := h.out.String(); strings.Contains(out, "refused") || strings.Contains(out, "fault") {
					t.Errorf("the hardware complains: %s", out)
				}
			}
		})
	}
}
