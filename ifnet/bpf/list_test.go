package bpf_test

import (
	"encoding/binary"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/sysctl"
)

func TestListenersAreListedUntilTheyClose(t *testing.T) {
	r := steppedRig(t)
	if got := bpf.List(r.k); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	a := r.open(bpf.Config{BufSize: 100, Owner: "tcpdump", Promisc: true, Direction: bpf.In})
	b := r.open(bpf.Config{BufSize: 200})
	for range 3 {
		r.show(true, -1, ipFrame)
	}
	const record = 20 + len(ipFrame)
	want := []bpf.Info{
		{Stats: bpf.Stats{Received: 3, Matched: 3, Dropped: 1}, Interface: "em0", Owner: "tcpdump", Promisc: true, Direction: bpf.In, StoreLen: 2 * record, BufSize: 100},
		{Stats: bpf.Stats{Received: 3, Matched: 3}, Interface: "em0", StoreLen: 3 * record, BufSize: 200},
	}
	if d := cmp.Diff(want, bpf.List(r.k)); d != "" {
		t.Error(d)
	}
	a.Read(func(bpf.Packet) bool {
		if i := bpf.List(r.k)[0]; i.StoreLen != 0 || i.HoldLen != 2*record {
			t.Errorf("while being read: %+v", i)
		}
		return true
	})
	if i := bpf.List(r.k)[0]; i.StoreLen != 0 || i.HoldLen != 0 {
		t.Errorf("read: %+v", i)
	}
	const size = 168
	raw := make([]byte, 3*size)
	if n, err := r.k.Sysctl.SysctlByName("net.bpf.stats", raw, nil, sysctl.Cred{}); err != nil || n != 2*size {
		t.Fatalf("net.bpf.stats: %d bytes, %v", n, err)
	}
	le := binary.LittleEndian
	if le.Uint32(raw) != size || raw[4] != 1 || le.Uint64(raw[32:]) != 3 || le.Uint64(raw[40:]) != 1 || le.Uint64(raw[48:]) != 3 ||
		le.Uint32(raw[16:]) != 0 || le.Uint32(raw[size+16:]) != 1 || le.Uint32(raw[size+60:]) != 3*uint32(record) || string(raw[76:80]) != "em0\x00" {
		t.Errorf("%x", raw)
	}
	_ = a.Close()
	if got := bpf.List(r.k); len(got) != 1 || got[0].BufSize != 200 {
		t.Errorf("%+v", got)
	}
	_ = b.Close()
}

func TestPcapngReportsWriteErrors(t *testing.T) {
	if _, err := bpf.NewNgWriter(&full{}, bpf.NgInterface{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("header: %v", err)
	}
	w, err := bpf.NewNgWriter(&full{room: 200}, bpf.NgInterface{Name: "em0", Boot: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	p := bpf.Packet{Len: 200, Data: make([]byte, 200)}
	if err := w.Write(p); err != nil {
		t.Errorf("a packet in the buffer: %v", err)
	}
	if err := w.Flush(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("flush: %v", err)
	}
	if err := w.Write(p); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("later packet: %v", err)
	}
	if err := w.Close(0, bpf.Stats{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("counts: %v", err)
	}
}
