package hw

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
)

// listSource sends the same packet whenever it is run.
type listSource struct {
	segs [][]byte
	o    *Offload
	left int
	done int
}

func (s *listSource) FetchTx(b *TxBatch) bool {
	if s.left == 0 {
		return false
	}
	s.left--
	for _, p := range s.segs {
		b.Append(p)
	}
	_ = b.End(s.o, 0)
	return true
}

func (s *listSource) CompleteTx(Completion) { s.done++ }

func TestDataPathAllocatesNothing(t *testing.T) {
	k := newKernel(t, stepped(0))
	p := null.New()
	must(t, p.Bind(nopClient{}))
	faults := NewFaults(k, "em0")
	batch := NewTxBatch(TxConfig{Kernel: k, Name: "em0", Port: p, Faults: faults, Kick: func() {}})
	t.Cleanup(batch.Close)
	f := flow{vlan: -1, flags: 0x18, payload: pattern(9000)}
	packet := build(t, f)
	_, l4, _ := f.offsets()
	tso := &Offload{Flags: TxTSO | TxVLAN, TPID: TPID8021Q, TCI: 5, TSO: *f.tso(64)} // more segments than slots
	csum := &Offload{Flags: TxCsum1 | TxVLAN | TxPad, TPID: TPID8021Q}
	csum.Csum[1] = TCPCsum(l4)
	src := &listSource{}
	e := NewEngine(Config{Kernel: k, Name: "em0"}, 1, func(int) { batch.Run(src) })
	key := NewToeplitz(verificationKey(t))
	super := lend(packet)
	super.GSOType, super.GSOSize, super.VLANValid = gsoTCPv4, 1000, true
	partial := port.RxFrame{Data: packet, Len: len(packet), NeedCsum: true, CsumStart: uint16(l4), CsumOff: tcpCsum}
	for name, fn := range map[string]func(){
		"plain":    func() { src.o, src.segs, src.left = nil, split3(src.segs[:0], packet[:1000]), 20; e.Doorbell(0) },
		"checksum": func() { src.o, src.segs, src.left = csum, split3(src.segs[:0], packet[:1000]), 20; e.Doorbell(0) },
		"TSO":      func() { src.o, src.segs, src.left = tso, split3(src.segs[:0], packet), 2; e.Doorbell(0) },
	} {
		src.done = 0
		fn() // fills the slots
		if n := testing.AllocsPerRun(5, fn); n != 0 || src.done == 0 || src.left != 0 {
			t.Errorf("%s: %v allocations, %d packets done", name, n, src.done)
		}
	}
	for name, fr := range map[string]port.RxFrame{"plain": lend(packet), "super-frame": super, "partial": partial} {
		rx := NewRxSource(&endlessPort{frame: fr}, 0)
		fn := func() {
			for range 20 {
				frame := rx.Peek().Data
				var h Headers
				h.Parse(frame, len(frame))
				h.CheckL4(frame)
				key.Hash(frame, &h, 0xffff)
				rx.Next()
			}
		}
		fn()
		if n := testing.AllocsPerRun(5, fn); n != 0 {
			t.Errorf("receive %s: %v allocations", name, n)
		}
	}
}

// split3 appends b in three pieces to segs.
func split3(segs [][]byte, b []byte) [][]byte {
	return append(segs, b[:14], b[14:61], b[61:])
}
