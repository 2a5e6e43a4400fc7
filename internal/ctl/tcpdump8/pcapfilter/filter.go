package pcapfilter

import (
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
)

// Filter is a compiled expression that runs on packets of a capture file, of which only
// the beginning may be there.
type Filter struct {
	program []bpf.Instruction
	vm      *bpf.VM // nil: accepts everything
}

// NewFilter compiles an expression as [Compile] does.
func NewFilter(text string) (*Filter, error) {
	const keep = 1
	program, err := Compile(text, keep)
	if err != nil || program == nil {
		return &Filter{}, err
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		return nil, fmt.Errorf("filter program: %w", err)
	}
	return &Filter{program, vm}, nil
}

// Match reports whether a packet of a length, of which data was captured, is accepted.
func (f *Filter) Match(data []byte, length int) bool {
	if f.vm == nil {
		return true
	}
	vm := f.vm
	if length != len(data) {
		vm = f.withLength(length)
	}
	n, err := vm.Run(data)
	return err == nil && n != 0
}

// withLength is the program for a packet of a length that data does not have.
func (f *Filter) withLength(length int) *bpf.VM {
	program := slices.Clone(f.program)
	for i, ins := range program {
		if ins == (bpf.LoadExtension{Num: bpf.ExtLen}) {
			program[i] = bpf.LoadConstant{Dst: bpf.RegA, Val: uint32(length)}
		}
	}
	vm, err := bpf.NewVM(program)
	if err != nil { // the same program was good before
		return f.vm
	}
	return vm
}
