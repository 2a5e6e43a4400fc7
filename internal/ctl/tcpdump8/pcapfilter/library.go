package pcapfilter

import (
	"fmt"

	"github.com/packetcap/go-pcap/filter"
	"golang.org/x/net/bpf"
)

// primitive is code of the library's: a program whose last two instructions keep the
// packet and drop it, which the rest of the code jumps or falls through to.
type primitive []bpf.Instruction

// library compiles one primitive of the library's grammar. Known to be right are host,
// net, port, ether host with their directions, tcp, udp, and ether proto ip, ip6, arp and
// rarp; nothing else is asked for. Of these it gets wrong, and never sees: a host name with
// several addresses (jumps go astray), an IPv6 address that begins with a colon (looked up as
// a name), IPv6 networks, and Ethernet addresses of 8 bytes and ports beyond 65535 (cut short). Alone or joined it also accepts icmp, portrange and
// not, and makes programs of them that let other packets through.
//
// Offsets of what follows the Ethernet addresses are moved by shift, for tags. The error
// names a primitive whose code is not of the shape described.
func library(text string, shift uint32) (node, error) {
	insns, err := filter.NewExpression(text).Compile().Compile()
	if err != nil {
		return nil, err
	}
	p := make(primitive, len(insns))
	for i, ins := range insns {
		moved, ok := move(ins, i, len(insns), shift)
		if !ok {
			return nil, fmt.Errorf("'%s' is not compiled rightly by the filter library; it is not supported", text)
		}
		p[i] = moved
	}
	return p, nil
}

// move is an instruction of the library's for a packet with tags; false if it is none
// that belongs at its place.
func move(ins bpf.Instruction, i, n int, shift uint32) (bpf.Instruction, bool) {
	if i >= n-2 {
		ret, ok := ins.(bpf.RetConstant)
		return ins, ok && (ret.Val != 0) == (i == n-2)
	}
	switch ins := ins.(type) {
	case bpf.JumpIf:
		last := n - 1 - (i + 1)
		return ins, int(ins.SkipTrue) <= last && int(ins.SkipFalse) <= last
	case bpf.LoadAbsolute:
		if ins.Off >= typeOff {
			ins.Off += shift
		}
		return ins, true
	case bpf.LoadIndirect:
		ins.Off += shift
		return ins, true
	case bpf.LoadMemShift:
		ins.Off += shift
		return ins, true
	case bpf.ALUOpConstant:
		return ins, true
	}
	return nil, false
}

func (p primitive) prepend(c *code, yes, no int) {
	n := len(p) - 2
	pos := make([]int, len(p))
	pos[n], pos[n+1] = yes, no
	if _, jumps := p[n-1].(bpf.JumpIf); !jumps && c.at() != yes { // it falls through
		c.push(bpf.Jump{Skip: uint32(c.skip(yes))})
		pos[n] = c.at()
	}
	for i := n - 1; i >= 0; i-- {
		switch ins := p[i].(type) {
		case bpf.JumpIf:
			c.branch(ins.Cond, ins.Val, false, pos[i+1+int(ins.SkipTrue)], pos[i+1+int(ins.SkipFalse)])
		default:
			c.push(ins)
		}
		pos[i] = c.at()
	}
}
