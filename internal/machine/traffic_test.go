package machine_test

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/machine"
)

const etherTest = 0x88b5 // IEEE 802 local experimental

// frame is an Ethernet frame to and from the NICs of two machines.
func frame(dst, src [6]byte, payload []byte) []byte {
	b := append(append([]byte(nil), dst[:]...), src[:]...)
	return append(append(b, etherTest>>8, etherTest&0xff), payload...)
}

// transmit hands a frame to an interface of the machine.
func transmit(t testing.TB, m *machine.Machine, dev string, b []byte) {
	t.Helper()
	z := mbuf.Of(m.Kernel())
	c := z.Borrow()
	defer z.Return(c)
	p := c.GetHdr()
	if p == nil || !c.Append(p, b) {
		t.Fatal("no mbufs")
	}
	must(t, m.Ifnet(dev).Transmit(p))
}

// listen returns what arrives at a machine.
func listen(m *machine.Machine) (got chan []byte, cancel func()) {
	got = make(chan []byte, 1)
	cancel = ifnet.RegisterProtocol(m.Kernel(), etherTest, func(c *mbuf.Cache, _ *ifnet.Ifnet, p *mbuf.Mbuf) {
		b := make([]byte, p.Length())
		p.CopyData(0, b)
		c.FreeChain(p)
		select {
		case got <- b:
		default:
		}
	})
	return got, cancel
}

func TestTwoMachinesOnOneFabricExchangeFrames(t *testing.T) {
	for _, dev := range []string{"cqnic0", "em0"} {
		t.Run(dev, func(t *testing.T) {
			fabric, work := port.NewFabric(pair.Kind()), hw.NewWorkList()
			var ms [2]*box
			for i := range ms {
				ms[i] = boot(t, machine.Config{Fabric: fabric, Work: work, Files: tree(
					"boot/device.hints", "hint."+dev[:len(dev)-1]+".0.port=\"pair:wire0\"\n",
					"etc/rc.conf", "hostname=\"m"+string(rune('0'+i))+"\"\nifconfig_"+dev+"=\"up\"\n",
				)})
			}
			for range 2 {
				for _, m := range ms {
					m.settle()
				}
			}
			payload := bytes.Repeat([]byte{0xa5}, 64)
			for i, m := range ms {
				other := ms[1-i]
				got, cancel := listen(other.Machine)
				transmit(t, m.Machine, dev, frame(other.Ifnet(dev).MAC(), m.Ifnet(dev).MAC(), payload))
				for _, x := range ms {
					x.settle()
				}
				cancel()
				select {
				case b := <-got:
					if !bytes.Equal(b, payload) {
						t.Errorf("machine %d sent %x, the other got %x", i, payload, b)
					}
				default:
					t.Errorf("nothing arrived from machine %d", i)
				}
			}
		})
	}
}

// TestMachinesRunSideBySide boots two threaded machines on one wire, and has them
// send at the same time until each got something.
func TestMachinesRunSideBySide(t *testing.T) {
	fabric, work := port.NewFabric(pair.Kind()), hw.NewWorkList()
	var ms [2]*machine.Machine
	for i := range ms {
		m, err := machine.Boot(machine.Config{
			NCPU: 2, MemSize: memSize, Fabric: fabric, Work: work, Console: io.Discard, Drivers: []machine.DriverEntry{cqEntry()},
			Env:   map[string]string{"hint.cqnic.0.port": "pair:w"},
			Files: tree("etc/rc.conf", "hostname=m"+string(rune('0'+i))+"\nifconfig_cqnic0=up\n"),
		})
		must(t, err)
		ms[i] = m
	}
	var wg sync.WaitGroup
	for i, m := range ms {
		other := ms[1-i]
		got, cancel := listen(other)
		wg.Go(func() {
			defer cancel()
			b := frame(other.Ifnet("cqnic0").MAC(), m.Ifnet("cqnic0").MAC(), make([]byte, 64))
			for deadline := time.After(10 * time.Second); ; {
				z := mbuf.Of(m.Kernel())
				c := z.Borrow()
				if p := c.GetHdr(); p != nil && c.Append(p, b) {
					// Refused until the link is up.
					_ = m.Ifnet("cqnic0").Transmit(p)
				}
				z.Return(c)
				select {
				case <-got:
					return
				case <-deadline:
					t.Errorf("nothing arrived from machine %d", i)
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	wg.Wait()
	for _, m := range ms {
		wg.Go(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
