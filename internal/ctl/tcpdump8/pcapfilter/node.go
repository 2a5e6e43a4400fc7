package pcapfilter

import (
	"math"

	"golang.org/x/net/bpf"
)

// node is a condition on a packet. prepend puts its code in front of what is there; the
// code goes on at yes or no, positions in the code behind it.
type node interface {
	prepend(c *code, yes, no int)
}

// code is a program that grows at its front, so that jumps, which only go forward, know
// where they lead. A position is the number of instructions from there to the end.
type code struct {
	reversed []bpf.Instruction
}

// at is the position of the first instruction.
func (c *code) at() int { return len(c.reversed) }

func (c *code) push(ins bpf.Instruction) { c.reversed = append(c.reversed, ins) }

// pushAll puts instructions in front, in their order.
func (c *code) pushAll(list []bpf.Instruction) {
	for i := len(list) - 1; i >= 0; i-- {
		c.push(list[i])
	}
}

// skip is how many instructions a jump in front of the code leaves out to get to pos.
func (c *code) skip(pos int) int { return c.at() - pos }

// near makes a position reachable for a conditional jump that follows at most one other
// instruction: where it is too far, through an unconditional jump.
func (c *code) near(pos int) int {
	if c.skip(pos) < math.MaxUint8 {
		return pos
	}
	c.push(bpf.Jump{Skip: uint32(c.skip(pos))})
	return c.at()
}

// branch puts a conditional jump in front; x compares with the X register.
func (c *code) branch(cond bpf.JumpTest, val uint32, x bool, yes, no int) {
	yes = c.near(yes)
	no = c.near(no)
	switch cond {
	case bpf.JumpNotEqual:
		cond, yes, no = bpf.JumpEqual, no, yes
	case bpf.JumpLessThan:
		cond, yes, no = bpf.JumpGreaterOrEqual, no, yes
	case bpf.JumpLessOrEqual:
		cond, yes, no = bpf.JumpGreaterThan, no, yes
	}
	t, f := uint8(c.skip(yes)), uint8(c.skip(no))
	if x {
		c.push(bpf.JumpIfX{Cond: cond, SkipTrue: t, SkipFalse: f})
		return
	}
	c.push(bpf.JumpIf{Cond: cond, Val: val, SkipTrue: t, SkipFalse: f})
}

type andNode struct{ a, b node }

func (n andNode) prepend(c *code, yes, no int) {
	n.b.prepend(c, yes, no)
	n.a.prepend(c, c.at(), no)
}

type orNode struct{ a, b node }

func (n orNode) prepend(c *code, yes, no int) {
	n.b.prepend(c, yes, no)
	n.a.prepend(c, yes, c.at())
}

type notNode struct{ a node }

func (n notNode) prepend(c *code, yes, no int) { n.a.prepend(c, no, yes) }

// all and anyOf join conditions, of which there is at least one.
func all(list ...node) node   { return fold(list, func(a, b node) node { return andNode{a, b} }) }
func anyOf(list ...node) node { return fold(list, func(a, b node) node { return orNode{a, b} }) }

func fold(list []node, join func(a, b node) node) node {
	n := list[0]
	for _, next := range list[1:] {
		n = join(n, next)
	}
	return n
}

// test computes a value in A, and with x another in X, and compares.
type test struct {
	load []bpf.Instruction
	cond bpf.JumpTest
	val  uint32
	x    bool
}

func (t test) prepend(c *code, yes, no int) {
	c.branch(t.cond, t.val, t.x, yes, no)
	c.pushAll(t.load)
}

// field compares bytes of the packet.
func field(off uint32, size int, cond bpf.JumpTest, val uint32) node {
	return test{load: []bpf.Instruction{bpf.LoadAbsolute{Off: off, Size: size}}, cond: cond, val: val}
}

// masked compares some bits of bytes of the packet.
func masked(off uint32, size int, mask, val uint32) node {
	load := []bpf.Instruction{bpf.LoadAbsolute{Off: off, Size: size}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask}}
	return test{load: load, cond: bpf.JumpEqual, val: val}
}

// link makes a program of a condition: it keeps snap bytes of a packet, or none.
func link(n node, snap uint32) []bpf.Instruction {
	var c code
	c.push(bpf.RetConstant{})
	no := c.at()
	c.push(bpf.RetConstant{Val: snap})
	n.prepend(&c, c.at(), no)
	program := make([]bpf.Instruction, 0, c.at())
	for i := c.at() - 1; i >= 0; i-- {
		program = append(program, c.reversed[i])
	}
	return program
}
