package mpring

import "fmt"

// flag says who drains the ring.
type flag uint8

const (
	idle flag = iota
	busy
	stalled
	abdicated
)

// flagBits is the width of the flag; the rest of its 16 bits is a generation.
const flagBits = 2

// state is the ring's word: pidx_head, pidx_tail, cidx and flags, 16 bits each
// from the low end, as in FreeBSD. FreeBSD leaves most of the flags empty; here
// they count publications, so that a word never repeats while somebody looks at
// the slots between two of its values.
type state uint64

func (s state) head() uint32 { return uint32(s) & 0xffff }
func (s state) tail() uint32 { return uint32(s>>16) & 0xffff }
func (s state) cidx() uint32 { return uint32(s>>32) & 0xffff }
func (s state) flag() flag   { return flag(s>>48) & (1<<flagBits - 1) }

func (s state) withHead(i uint32) state { return s&^0xffff | state(i) }
func (s state) withTail(i uint32) state { return s&^(0xffff<<16) | state(i)<<16 }
func (s state) withCidx(i uint32) state { return s&^(0xffff<<32) | state(i)<<32 }
func (s state) withFlag(f flag) state {
	return s&^((1<<flagBits-1)<<48) | state(f)<<48
}

// published is s with a new tail and flag, of the next generation.
func (s state) published(tail uint32, f flag) state {
	return s.withTail(tail).withFlag(f) + 1<<(48+flagBits)
}

// samePublication reports whether nothing was published between s and t.
func (s state) samePublication(t state) bool {
	const mask = state(0xffff<<16 | (1<<(16-flagBits)-1)<<(48+flagBits))
	return (s^t)&mask == 0
}

// flagNames are the flags by value.
var flagNames = [...]string{"IDLE", "BUSY", "STALLED", "ABDICATED"}

// String is the text of the sysctl ring_state (spec iflib 6.1).
func (s state) String() string {
	return fmt.Sprintf("pidx_head: %04d pidx_tail: %04d cidx: %04d state: %s",
		int16(s.head()), int16(s.tail()), int16(s.cidx()), flagNames[s.flag()])
}
