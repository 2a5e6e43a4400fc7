package bpf

import (
	"fmt"
	"syscall"

	"golang.org/x/net/bpf"
)

// Program is a filter as bpf(4) takes it: what tcpdump -ddd prints.
type Program []bpf.RawInstruction

// filter is a compiled program; nil accepts whole packets.
type filter struct{ vm *bpf.VM }

// compile checks a program (bpf_validate). EINVAL: too long, an unknown instruction, a
// jump out of the program, a constant division by zero, no return at its end. An empty
// program accepts everything.
func compile(p Program, maxInsns int) (*filter, error) {
	if len(p) == 0 {
		return nil, nil
	}
	if len(p) > maxInsns {
		return nil, fmt.Errorf("bpf program of %d instructions, at most %d: %w", len(p), maxInsns, syscall.EINVAL)
	}
	insns, ok := bpf.Disassemble(p)
	if !ok {
		return nil, fmt.Errorf("bpf program with an unknown instruction: %w", syscall.EINVAL)
	}
	vm, err := bpf.NewVM(insns)
	if err != nil {
		return nil, fmt.Errorf("bpf program: %v: %w", err, syscall.EINVAL)
	}
	return &filter{vm}, nil
}

// run is how many bytes of the packet to keep, 0 to reject it (bpf_filter). A program
// that reads past the packet rejects it.
func (f *filter) run(packet []byte) int {
	if f == nil {
		return len(packet)
	}
	n, err := f.vm.Run(packet)
	if err != nil {
		return 0
	}
	return min(n, len(packet))
}
