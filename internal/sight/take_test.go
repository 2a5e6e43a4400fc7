package sight_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/sight"
)

// TestEachBufferHasItsHolder stops the hardware, so that packets stay in its ring and
// behind it, and finds them all.
func TestEachBufferHasItsHolder(t *testing.T) {
	for _, driver := range []string{"em", "igb", "igc"} {
		for _, simple := range []string{"0", "1"} {
			t.Run(driver+" simple_tx="+simple, func(t *testing.T) {
				name := driver + "0"
				cfg := still()
				cfg.Env = map[string]string{"dev." + driver + ".0.iflib.simple_tx": simple, "dev." + driver + ".0.iflib.override_ntxds": "128",
					"dev." + driver + ".0.iflib.override_nrxds": "256"}
				b := boot(t, cfg, name)
				b.account(b.dump())
				b.set("debug.fail_point.hw."+name+".stuck_head", "return(1)")
				const sent = 150
				b.send(name, sent)
				b.Kernel().RunUntilIdle()
				d := b.dump()
				b.account(d)
				l := b.Ctx(name).Ledger()
				var ring, soft int
				for q := range b.Ctx(name).NTxqs() {
					ring += packets(d, fmt.Sprintf("%s transmit queue %d ring", name, q))
					soft += packets(d, fmt.Sprintf("%s transmit queue %d mp_ring", name, q))
				}
				if !l.Balanced() || l.In != sent || uint64(soft) != l.Queued || uint64(ring) != l.Handed || ring < 80 {
					t.Errorf("ledger %s; %d in the rings, %d in front of them", l, ring, soft)
				}
				if wantSoft := simple == "0"; (soft > 0) != wantSoft {
					t.Errorf("%d packets wait in front of the ring", soft)
				}
				if packets(d, name+" receive queue 0 free list 0") != 255 && packets(d, name+" receive queue 0 free list 0") != 128 {
					t.Errorf("%d buffers are posted", packets(d, name+" receive queue 0 free list 0"))
				}
				// A buffer that nobody has is a leak.
				m := b.cache.GetHdr()
				if leak := b.dump().Mbufs.Leak(); leak.Mbufs != 1 || leak.Packets != 0 {
					t.Errorf("leak %+v, want one mbuf", leak)
				}
				b.cache.FreeChain(m)
				b.set("debug.fail_point.hw."+name+".stuck_head", "off")
			})
		}
	}
}

func TestPacketsThatWaitElsewhereAreFound(t *testing.T) {
	cfg := still()
	cfg.Files = files("etc/rc.conf", "ifconfig_em0=\"inet 192.0.2.1/24\"\npf_enable=YES\n",
		"etc/pf.conf", "altq on em0 priq bandwidth 8Kb tbrsize 100 queue { a b }\nqueue a priority 1 priq(default)\nqueue b priority 7\n")
	b := boot(t, cfg, "em0")
	out := func() {
		m := b.cache.GetHdr()
		if !b.cache.Append(m, make([]byte, 28)) {
			t.Fatal("no mbufs")
		}
		m.FixHdr()
		ip := m.Bytes()
		ip[0], ip[3], ip[8], ip[9] = 0x45, 28, 64, 17
		_ = b.Ifnet("em0").Output(b.cache, m, netip.MustParseAddr("192.0.2.77"), ifnet.AFInet) // it waits
	}
	out()
	b.send("em0", 5)
	d := b.dump()
	b.account(d)
	if n := packets(d, "em0 ARP of 192.0.2.77"); n != 1 {
		t.Errorf("%d packets wait for the neighbour\n%s", n, text(t, d, false))
	}
	if n := packets(d, "em0 send queue, priq class 1"); n < 2 {
		t.Errorf("%d packets in the class\n%s", n, text(t, d, false))
	}
	if d.Devices[0].Path != "altq" {
		t.Errorf("path %s", d.Devices[0].Path)
	}
}

// TestRingsAreDecodedWithTheirOwners holds the doorbell of nothing and the hardware of all:
// what was sent is the hardware's.
func TestRingsAreDecodedWithTheirOwners(t *testing.T) {
	cfg := still()
	cfg.Env = map[string]string{"dev.em.0.iflib.simple_tx": "1", "dev.em.0.iflib.override_ntxds": "128"}
	b := boot(t, cfg, "em0")
	b.set("debug.fail_point.hw.em0.stuck_head", "return(1)")
	const sent = 6
	b.send("em0", sent)
	d := b.dump()
	q := d.Devices[0].Queues[1] // the last one, for packets without hash
	if q.Name != "transmit queue 1" || q.Busy || q.Indices[0] != (sight.Index{Name: "pidx", Value: sent}) {
		t.Errorf("queue %s, busy %v, %v", q.Name, q.Busy, q.Indices)
	}
	r := q.Rings[0]
	if r.Size != 128 || r.Bytes != 16 {
		t.Errorf("%d descriptors of %d bytes", r.Size, r.Bytes)
	}
	for i := range r.Size {
		desc, want := r.Descs[i], "driver"
		if i < sent {
			want = "hardware"
		}
		if desc.Owner != want || (i < sent) != strings.HasPrefix(desc.Text, "legacy addr=0x") {
			t.Errorf("descriptor %d: %+v, want %s", i, desc, want)
		}
	}
	if r.Descs[0].Marks != "cidx,cidx_processed" || r.Descs[sent].Marks != "pidx" {
		t.Errorf("marks %q, %q", r.Descs[0].Marks, r.Descs[sent].Marks)
	}
	js, err := json.Marshal(r.Descs[1])
	b.must(err)
	var got struct {
		Index  int
		Owner  string
		Words  []string
		Kind   string
		Fields map[string]string
	}
	b.must(json.Unmarshal(js, &got))
	if got.Index != 1 || got.Owner != "hardware" || len(got.Words) != 2 || got.Kind != "legacy" || got.Fields["len"] != "60" || got.Fields["sta"] != "-" {
		t.Errorf("%s", js)
	}
	b.set("debug.fail_point.hw.em0.stuck_head", "off")
}

// TestRegistersAreReadWithoutEffects dumps twice with causes pending and frames counted.
func TestRegistersAreReadWithoutEffects(t *testing.T) {
	for _, name := range []string{"em0", "igb0", "igc0", "skel0"} {
		t.Run(name, func(t *testing.T) {
			b := boot(t, still(), name)
			b.set("debug.fail_point.hw."+name+".lost_intr", "return(1)")
			b.send(name, 3)
			b.Kernel().RunUntilIdle()
			first, again := b.dump().Devices[0].Registers, b.dump().Devices[0].Registers
			if len(first) < 20 {
				t.Fatalf("%d registers", len(first))
			}
			touchy := 0
			for i, r := range first {
				if r.Value == nil {
					touchy++
					continue
				}
				if *again[i].Value != *r.Value {
					t.Errorf("%s was %#x, is %#x", r.Name, *r.Value, *again[i].Value)
				}
			}
			if touchy == 0 {
				t.Error("every register was read")
			}
			b.set("debug.fail_point.hw."+name+".lost_intr", "off")
		})
	}
}

// TestDumpReads dumps a NIC without traffic in the layout of the documentation.
func TestDumpReads(t *testing.T) {
	b := boot(t, still(), "skel0")
	got := text(t, b.dump(), false)
	for _, want := range []string{
		"skel0: running, link up, sends by mp_ring, broken contracts 0\n",
		"  transmit queue 0: pidx 0 cidx 0 cidx_processed 0 in_use 0 rs_pending 0 db_pending 0 processed 0 cleaned 0 deferred 0\n" +
			"    mp_ring pidx_head: 0000 pidx_tail: 0000 cidx: 0000 state: IDLE\n    ring 0: 1024 descriptors of 16 bytes at 0x",
		"         0: driver   0000000000000000 0000000000000000  <- pidx,cidx,cidx_processed\n         1-1023 driver, 1023 empty\n",
		"  receive queue 1: fl0.pidx 128 fl0.cidx 0 fl0.credits 128 fl0.buf_size 2048\n",
		"  desc addr=0x", "         5-127 hardware, 123 more\n",
		"    0x0008 ICAUSE       not read: reading changes it\n", "    0x0004 STATUS       03e80003 LINK_UP|FULL_DUPLEX|0x3e80000\n",
		"  skel0 receive queue 0 free list 0, slots 0-127: 128 of 262144 bytes: 128 mbuf_packet\n",
		"  in use: 256 mbuf_packet\n  held: 256 mbuf_packet\n  unaccounted for: none\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if all := text(t, b.dump(), true); strings.Count(all, "\n") < 2*1024+2*512 || strings.Contains(all, " more\n") {
		t.Errorf("with all descriptors it has %d lines", strings.Count(all, "\n"))
	}
}

func TestADetachedDeviceIsGone(t *testing.T) {
	b := boot(t, still(), "em0", "igb0")
	devices := b.devices()
	b.must(b.Detach("em0"))
	d := sight.Take(b.Kernel(), devices, true)
	b.account(d)
	if got := text(t, d, false); !strings.HasPrefix(got, "em0: gone\nigb0: running") {
		t.Errorf("%s", got)
	}
}
