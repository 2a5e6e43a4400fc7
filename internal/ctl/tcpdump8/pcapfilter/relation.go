package pcapfilter

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
)

// scratchCells are the machine's words for values in between (BPF_MEMWORDS).
const scratchCells = 16

// value is a number computed from a packet.
type value struct {
	constant bool
	num      uint32
	// code leaves the value in A, with cells from the given one on.
	code func(cell int) ([]bpf.Instruction, error)
	// guards are what a packet must be to have the data.
	guards []node
}

func constantValue(n uint32) value {
	return value{constant: true, num: n, code: func(int) ([]bpf.Instruction, error) {
		return []bpf.Instruction{bpf.LoadConstant{Dst: bpf.RegA, Val: n}}, nil
	}}
}

// comparisons are the relational operators.
var comparisons = map[string]bpf.JumpTest{
	"=": bpf.JumpEqual, "!=": bpf.JumpNotEqual, ">": bpf.JumpGreaterThan, ">=": bpf.JumpGreaterOrEqual,
	"<": bpf.JumpLessThan, "<=": bpf.JumpLessOrEqual,
}

// relation is a comparison of two values; false, with nothing taken, if none comes next.
func (p *parser) relation() (n node, ok bool, err error) {
	start, last := p.pos, p.last
	left, err := p.value(0)
	if err != nil && !errors.Is(err, errSyntax) {
		return nil, true, err
	}
	cond, is := comparisons[p.peek().text]
	if err != nil || !is || p.peek().kind != kindSign {
		p.pos, p.last = start, last
		return nil, false, nil
	}
	p.pos++
	right, err := p.value(0)
	if err != nil {
		return nil, true, err
	}
	p.last = nil
	n, err = compare(left, right, cond)
	return n, true, err
}

// compare is a comparison, for packets that have the data.
func compare(left, right value, cond bpf.JumpTest) (node, error) {
	t := test{cond: cond, val: right.num, x: !right.constant}
	var err error
	if right.constant {
		t.load, err = left.code(0)
	} else {
		t.load, err = inX(left, right, 0)
	}
	if err != nil {
		return nil, err
	}
	return all(append(append(append([]node{}, left.guards...), right.guards...), t)...), nil
}

// inX leaves left in A and right in X.
func inX(left, right value, cell int) ([]bpf.Instruction, error) {
	if cell >= scratchCells {
		return nil, fmt.Errorf("too many registers needed to evaluate expression")
	}
	second, err := right.code(cell)
	if err != nil {
		return nil, err
	}
	first, err := left.code(cell + 1)
	if err != nil {
		return nil, err
	}
	code := append(append([]bpf.Instruction{}, second...), bpf.StoreScratch{Src: bpf.RegA, N: cell})
	return append(append(code, first...), bpf.LoadScratch{Dst: bpf.RegX, N: cell}), nil
}

// levels are the binary operators, those that bind less first.
var levels = []map[string]bpf.ALUOp{
	{"|": bpf.ALUOpOr, "^": bpf.ALUOpXor},
	{"&": bpf.ALUOpAnd},
	{"<<": bpf.ALUOpShiftLeft, ">>": bpf.ALUOpShiftRight},
	{"+": bpf.ALUOpAdd, "-": bpf.ALUOpSub},
	{"*": bpf.ALUOpMul, "/": bpf.ALUOpDiv, "%": bpf.ALUOpMod},
}

// value is an arithmetic expression of operators of a level and above.
func (p *parser) value(level int) (value, error) {
	if level == len(levels) {
		return p.operand()
	}
	v, err := p.value(level + 1)
	for err == nil {
		t := p.peek()
		op, ok := levels[level][t.text]
		if !ok || t.kind != kindSign {
			return v, nil
		}
		p.pos++
		var b value
		if b, err = p.value(level + 1); err == nil {
			v, err = operate(v, b, op)
		}
	}
	return v, err
}

// operate applies an operator.
func operate(a, b value, op bpf.ALUOp) (value, error) {
	const wordBits = 32
	if b.constant {
		switch {
		case b.num == 0 && op == bpf.ALUOpDiv:
			return a, errors.New("division by zero")
		case b.num == 0 && op == bpf.ALUOpMod:
			return a, errors.New("modulus by zero")
		case b.num >= wordBits && (op == bpf.ALUOpShiftLeft || op == bpf.ALUOpShiftRight):
			return a, errors.New("shift by more than 31 bits")
		case a.constant:
			return constantValue(calculate(op, a.num, b.num)), nil
		}
	}
	v := value{guards: append(append([]node{}, a.guards...), b.guards...)}
	v.code = func(cell int) ([]bpf.Instruction, error) {
		if b.constant {
			code, err := a.code(cell)
			return append(code, bpf.ALUOpConstant{Op: op, Val: b.num}), err
		}
		code, err := inX(a, b, cell)
		return append(code, bpf.ALUOpX{Op: op}), err
	}
	return v, nil
}

// calculate is what the machine would compute of constants.
func calculate(op bpf.ALUOp, a, b uint32) uint32 {
	switch op {
	case bpf.ALUOpAdd:
		return a + b
	case bpf.ALUOpSub:
		return a - b
	case bpf.ALUOpMul:
		return a * b
	case bpf.ALUOpDiv:
		return a / b
	case bpf.ALUOpMod:
		return a % b
	case bpf.ALUOpAnd:
		return a & b
	case bpf.ALUOpOr:
		return a | b
	case bpf.ALUOpXor:
		return a ^ b
	case bpf.ALUOpShiftLeft:
		return a << b
	}
	return a >> b
}

// operand is a number, the length, packet data, or an expression in parentheses.
func (p *parser) operand() (v value, err error) {
	leave, err := p.nest()
	if err != nil {
		return v, err
	}
	defer leave()
	t := p.take()
	switch {
	case t.kind == kindNumber:
		return constantValue(t.num), nil
	case t.word("len") || t.word("length"):
		return value{code: func(int) ([]bpf.Instruction, error) {
			return []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtLen}}, nil
		}}, nil
	case t.is("-"):
		v, err = p.operand()
		if err != nil {
			return v, err
		}
		return operate(constantValue(0), v, bpf.ALUOpSub)
	case t.is("("):
		v, err = p.value(0)
		if err == nil && !p.accept(")") {
			err = errSyntax
		}
		return v, err
	case t.kind == kindWord && p.peek().is("[") && (protocols[t.text] != nil || unsupported[t.text]):
		return p.data(t.text)
	}
	return v, errSyntax
}

// data is bytes of a protocol's header: "[offset]" or "[offset:size]".
func (p *parser) data(proto string) (v value, err error) {
	const word = 4
	p.pos++
	index, err := p.value(0)
	if err != nil {
		return v, err
	}
	size := uint32(1)
	if p.accept(":") {
		t := p.take()
		if t.kind != kindNumber {
			return v, errSyntax
		}
		size = t.num
	}
	if !p.accept("]") {
		return v, errSyntax
	}
	if size != 1 && size != 2 && size != word {
		return v, errors.New("data size must be 1, 2, or 4")
	}
	base, behindIP4, guards, err := p.header(proto)
	if err != nil {
		return v, err
	}
	v.guards = append(guards, index.guards...)
	v.code = func(cell int) ([]bpf.Instruction, error) { return load(index, base, behindIP4, int(size), cell) }
	return v, nil
}

// header is where the header of a protocol begins, whether the length of IPv4's header
// has to be added, and what a packet must be to have it.
func (p *parser) header(proto string) (base uint32, behindIP4 bool, guards []node, err error) {
	behind := headerLen + p.shift
	switch proto {
	case "ether", "link":
		return 0, false, nil, nil
	case "ip", "ip6", "arp", "rarp":
		n, err := protocols[proto](p.shift)
		return behind, false, []node{n}, err
	case "icmp6":
		n, err := protocols["ip6"](p.shift)
		return behind + ip6Len, false, []node{n, field(ip6Next+p.shift, 1, bpf.JumpEqual, protoICMP6)}, err
	}
	number, ok := protoNames[proto]
	if !ok {
		return 0, false, nil, fmt.Errorf("'%s' does not support the index operation", proto)
	}
	ip, err := protocols["ip"](p.shift)
	return behind, true, []node{ip, field(ip4Proto+p.shift, 1, bpf.JumpEqual, number), p.firstFragment()}, err
}

// load reads bytes of the packet at base and an index, and behind IPv4's options.
func load(index value, base uint32, behindIP4 bool, size, cell int) ([]bpf.Instruction, error) {
	header := bpf.LoadMemShift{Off: base}
	if index.constant {
		at := base + index.num
		if at < base {
			return nil, fmt.Errorf("offset %d is not in a packet", index.num)
		}
		if behindIP4 {
			return []bpf.Instruction{header, bpf.LoadIndirect{Off: at, Size: size}}, nil
		}
		return []bpf.Instruction{bpf.LoadAbsolute{Off: at, Size: size}}, nil
	}
	code, err := index.code(cell)
	if err != nil {
		return nil, err
	}
	code = append([]bpf.Instruction{}, code...)
	if behindIP4 {
		code = append(code, header, bpf.ALUOpX{Op: bpf.ALUOpAdd})
	}
	return append(code, bpf.TAX{}, bpf.LoadIndirect{Off: base, Size: size}), nil
}
