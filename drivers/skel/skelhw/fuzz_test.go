package skelhw_test

import (
	"encoding/binary"
	"testing"

	"github.com/ifsim/ifsim/drivers/skel/skelhw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// FuzzModel lets a program of register writes, descriptor words and frames loose on the
// hardware. Pair 0 has its rings at the beginning of the memory that the program writes.
func FuzzModel(f *testing.F) {
	const rxRing, bufs, words = ringSize * skelreg.DescBytes, 8192, 4096
	write := func(off uint64, v byte) []byte {
		return append(binary.LittleEndian.AppendUint16([]byte{2}, uint16(off)), v)
	}
	buffer := func(desc int, state uint64) []byte {
		b := binary.LittleEndian.AppendUint16([]byte{5}, uint16(desc*skelreg.DescWords))
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(b, bufs), state)
	}
	frame := []byte{0x86, 100, 0}
	f.Add(append(buffer(0, own|end|notify|64), write(reg(0, skelreg.TXBELL), 1)...))
	f.Add(append(buffer(0, own|64), append(buffer(1, own|end|ipSum|l4Sum|tag|64), write(reg(0, skelreg.TXBELL), 1)...)...))
	f.Add(append(buffer(ringSize, own), append(write(reg(0, skelreg.RXBELL), 1), frame...)...))
	f.Add(append(write(reg(0, skelreg.RXLEN), 0), frame...))
	f.Add(append(write(skelreg.CTRL, skelreg.CtrlReset), frame...))
	f.Fuzz(func(t *testing.T, program []byte) {
		r := rig.New(t, skelhw.New, skelreg.BARRegs)
		arena := r.Alloc(words * 8)
		b := &bench{Rig: r}
		b.start(arena, arena+rxRing)
		rig.Program(program).Run(r, skelreg.RegsSize, arena, words)
	})
}
