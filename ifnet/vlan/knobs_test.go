package vlan_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/ifnet/vlan"
)

const (
	softPad = "net.link.vlan.soft_pad"
	mtagPCP = "net.link.vlan.mtag_pcp"
)

// set writes an OID.
func (r *rig) set(oid, value string) {
	r.t.Helper()
	must(r.t, r.k.Sysctl.SetText(oid, value))
}

func TestShortFramesArePaddedBeforeTheyAreTagged(t *testing.T) {
	r := newRig(t)
	ifp := r.vlan()
	must(t, r.em.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{})) // tags in band
	long := slices.Concat(plain(otherMAC), make([]byte, 39))
	must(t, ifp.Transmit(r.packet(plain(otherMAC))))
	r.set(softPad, "1")
	for _, data := range [][]byte{plain(otherMAC), long[:59], long[:60]} {
		must(t, ifp.Transmit(r.packet(data)))
	}
	padded := slices.Concat(tagged(otherMAC, 5), make([]byte, 39))
	for i, want := range [][]byte{tagged(otherMAC, 5), padded, padded, padded} {
		if !bytes.Equal(r.sent[i].data, want) {
			t.Errorf("frame %d: %x, want %x", i, r.sent[i].data, want)
		}
	}
	if got := count(ifp, ifnet.CounterOPackets, ifnet.CounterOErrors); got != "4 0" {
		t.Errorf("counters %s", got)
	}
	vlan.DestroyAll(r.k)
}

func TestPrioritiesTravelWithPackets(t *testing.T) {
	const experimental = 0x88b5
	r := newRig(t)
	ifp := r.vlan()
	var heard []int // priorities that came, -1 for none
	ifnet.RegisterProtocol(r.k, experimental, func(c *mbuf.Cache, _ *ifnet.Ifnet, m *mbuf.Mbuf) {
		pcp := -1
		if tag := m.TagFind(vlan.TagCookie, vlan.TagPCPIn); tag != nil {
			pcp = int(tag.Val[0])
		}
		heard = append(heard, pcp)
		c.FreeChain(m)
	})
	in := slices.Concat(ownMAC[:], otherMAC[:], []byte{0x81, 0x00, 0xa0, 5, 0x88, 0xb5}, []byte("payload"))
	out := func(pcp uint64) {
		m := r.packet(plain(otherMAC))
		c := mbuf.Of(r.k).Borrow()
		tag := c.TagAlloc(vlan.TagCookie, vlan.TagPCPOut)
		mbuf.Of(r.k).Return(c)
		tag.Val[0] = pcp
		m.TagPrepend(tag)
		must(t, ifp.Transmit(m))
	}
	r.em.Input(r.packet(in))
	out(6)
	r.set(mtagPCP, "1")
	r.em.Input(r.packet(in))
	out(6)
	must(t, ifp.Transmit(r.packet(plain(otherMAC))))
	if want := []int{-1, 5}; !slices.Equal(heard, want) {
		t.Errorf("priorities %v came, want %v", heard, want)
	}
	for i, want := range []int{5, 0xc005, 5} {
		if r.sent[i].tag != want {
			t.Errorf("tag %#x left, want %#x", r.sent[i].tag, want)
		}
	}
	vlan.DestroyAll(r.k)
}

func TestKnobsWithoutMemoryLosePacketsCounted(t *testing.T) {
	r := newRig(t)
	ifp := r.vlan()
	r.set(mtagPCP, "1")
	r.set("debug.fail_point.mbuf.tag", "1*return(0)")
	r.em.Input(r.packet(tagged(ownMAC, 5)))
	r.em.Input(r.packet(tagged(ownMAC, 5)))
	if got := count(r.em, ifnet.CounterIErrors) + count(ifp, ifnet.CounterIPackets); got != "11" || len(r.got) != 1 {
		t.Errorf("counters %s, received %q", got, r.got)
	}
	vlan.DestroyAll(r.k)
}
