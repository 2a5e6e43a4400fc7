package altqtest

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
)

// opSize is the length of one operation in a fuzz input: a code and a number.
const opSize = 5

// Codes of operations, by the low bits.
const (
	opEnqueue = iota
	opDequeue
	opPoll
	opMicros
	opDays
	opPurge
	opBurst
	numOps
)

// maxDays bounds a clock jump of a fuzz input.
const maxDays = 400

// Fuzz drives a discipline with any sequence of packets of any size, clock jumps
// and purges, and fails if packets are lost from the account or starve.
func Fuzz(f *testing.F, discipline func() altq.Discipline, qids ...altq.QID) {
	f.Add([]byte{opEnqueue, 0, 0, 5, 0xea, opDequeue, 0, 0, 0, 1})
	f.Add([]byte{opBurst, 1, 0, 64, 200, opDays, 0, 0, 0, 1, opBurst, 2, 1, 0, 9, opMicros, 0, 0, 5, 0, opPoll, 0, 0, 0, 0, opDequeue, 0, 0, 0, 9})
	f.Add([]byte{opBurst, 0, 0xff, 0xff, 200, opPurge, 0, 0, 0, 0, opBurst, 2, 0, 1, 60, opDays, 0, 0, 1, 0x90})
	k := Kernel(f, true)
	f.Fuzz(func(t *testing.T, ops []byte) {
		b, err := newBed(k, discipline(), qids)
		if err != nil {
			t.Fatal(err)
		}
		const most = 400 // operations
		for i := 0; i < most && len(ops) >= opSize; i, ops = i+1, ops[opSize:] {
			b.op(ops[0], ops[1], binary.BigEndian.Uint16(ops[2:]), ops[4])
			if err := b.check(); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.drain(); err != nil {
			t.Fatal(err)
		}
		if err := b.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// op does one operation of a fuzz input.
func (b *bed) op(code, which byte, n uint16, count byte) {
	switch code % numOps {
	case opEnqueue:
		b.enqueue(b.qids[int(which)%len(b.qids)], uint32(count), int(n))
	case opBurst:
		for i := range int(count) {
			b.enqueue(b.qids[int(which)%len(b.qids)], uint32(i), int(n))
		}
	case opDequeue:
		for range count {
			b.dequeue()
		}
	case opPoll:
		b.queue.Poll()
	case opMicros:
		b.advance(time.Duration(n)*time.Microsecond + time.Duration(count)*time.Millisecond)
	case opDays:
		const day = 24 * time.Hour
		b.advance(time.Duration(int(n)%maxDays) * day)
	case opPurge:
		b.queue.Purge(nil)
	}
}
