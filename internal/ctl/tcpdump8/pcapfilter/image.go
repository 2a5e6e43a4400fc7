package pcapfilter

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/bpf"
)

// Style is how [Dump] writes a program: tcpdump -d, -dd and -ddd.
type Style int

// Styles.
const (
	Readable Style = 1 + iota // instructions a person reads
	CArray                    // lines of a C initializer
	Decimal                   // numbers, the count first
)

// Dump writes a program (bpf_dump). Beyond Decimal is as Decimal.
func Dump(w io.Writer, program []bpf.Instruction, style Style) error {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	var b strings.Builder
	if style >= Decimal {
		fmt.Fprintln(&b, len(raw))
	}
	for i, r := range raw {
		switch style {
		case Readable:
			fmt.Fprintln(&b, image(program[i], i))
		case CArray:
			fmt.Fprintf(&b, "{ 0x%x, %d, %d, 0x%08x },\n", r.Op, r.Jt, r.Jf, r.K)
		default:
			fmt.Fprintf(&b, "%d %d %d %d\n", r.Op, r.Jt, r.Jf, r.K)
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// image is an instruction in words (bpf_image).
func image(ins bpf.Instruction, n int) string {
	op, operand := mnemonic(ins, n)
	switch ins := ins.(type) {
	case bpf.JumpIf:
		return fmt.Sprintf("(%03d) %-8s %-16s jt %d\tjf %d", n, op, operand, n+1+int(ins.SkipTrue), n+1+int(ins.SkipFalse))
	case bpf.JumpIfX:
		return fmt.Sprintf("(%03d) %-8s %-16s jt %d\tjf %d", n, op, operand, n+1+int(ins.SkipTrue), n+1+int(ins.SkipFalse))
	}
	if operand == "" {
		return fmt.Sprintf("(%03d) %s", n, op)
	}
	return fmt.Sprintf("(%03d) %-8s %s", n, op, operand)
}

// widths are the suffixes of loads by their size in bytes.
var widths = map[int]string{1: "b", 2: "h", 4: ""}

// jumps are the names of comparisons, of those that code has.
var jumps = map[bpf.JumpTest]string{bpf.JumpEqual: "jeq", bpf.JumpGreaterThan: "jgt", bpf.JumpGreaterOrEqual: "jge", bpf.JumpBitsSet: "jset"}

// operators are the names of calculations, and how their constants are written.
var operators = map[bpf.ALUOp]struct{ name, format string }{
	bpf.ALUOpAdd: {"add", "#%d"}, bpf.ALUOpSub: {"sub", "#%d"}, bpf.ALUOpMul: {"mul", "#%d"}, bpf.ALUOpDiv: {"div", "#%d"}, bpf.ALUOpMod: {"mod", "#%d"},
	bpf.ALUOpAnd: {"and", "#0x%x"}, bpf.ALUOpOr: {"or", "#0x%x"}, bpf.ALUOpXor: {"xor", "#0x%x"},
	bpf.ALUOpShiftLeft: {"lsh", "#%d"}, bpf.ALUOpShiftRight: {"rsh", "#%d"},
}

// mnemonic is the name of an instruction and its operand.
func mnemonic(ins bpf.Instruction, n int) (op, operand string) {
	switch ins := ins.(type) {
	case bpf.RetConstant:
		return "ret", fmt.Sprintf("#%d", ins.Val)
	case bpf.LoadAbsolute:
		return "ld" + widths[ins.Size], fmt.Sprintf("[%d]", ins.Off)
	case bpf.LoadIndirect:
		return "ld" + widths[ins.Size], fmt.Sprintf("[x + %d]", ins.Off)
	case bpf.LoadMemShift:
		return "ldxb", fmt.Sprintf("4*([%d]&0xf)", ins.Off)
	case bpf.LoadExtension:
		return "ld", "#pktlen"
	case bpf.LoadConstant:
		return "ld", fmt.Sprintf("#0x%x", ins.Val)
	case bpf.LoadScratch:
		if ins.Dst == bpf.RegX {
			return "ldx", fmt.Sprintf("M[%d]", ins.N)
		}
		return "ld", fmt.Sprintf("M[%d]", ins.N)
	case bpf.StoreScratch:
		return "st", fmt.Sprintf("M[%d]", ins.N)
	case bpf.Jump:
		return "ja", fmt.Sprint(n + 1 + int(ins.Skip))
	case bpf.JumpIf:
		return jumps[ins.Cond], fmt.Sprintf("#0x%x", ins.Val)
	case bpf.JumpIfX:
		return jumps[ins.Cond], "x"
	case bpf.ALUOpConstant:
		o := operators[ins.Op]
		return o.name, fmt.Sprintf(o.format, ins.Val)
	case bpf.ALUOpX:
		return operators[ins.Op].name, "x"
	case bpf.TAX:
		return "tax", ""
	}
	return "unimp", ""
}
