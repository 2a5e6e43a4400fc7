package cqhw_test

import (
	"encoding/binary"
	"testing"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// FuzzModel lets a program of register writes, descriptor words and frames loose on
// the model, with queue 0 of both directions enabled over an arena that the program
// writes.
func FuzzModel(f *testing.F) {
	op := func(code byte, args ...uint64) (b []byte) {
		b = append(b, code)
		for i, a := range args {
			switch {
			case i == 0:
				b = binary.LittleEndian.AppendUint16(b, uint16(a))
			case code == 2:
				b = append(b, byte(a))
			case code < 2:
				b = binary.LittleEndian.AppendUint32(b, uint32(a))
			case code == 5 && i == 1:
				b = binary.LittleEndian.AppendUint16(b, uint16(a))
			default:
				b = binary.LittleEndian.AppendUint64(b, a)
			}
		}
		return b
	}
	one := uint64(64 | cqreg.TxdFirst | cqreg.TxdLast | cqreg.TxdReport | 1<<cqreg.TxdCountShift)
	send := append(op(5, 0, 2048, one), op(2, reg(0, cqreg.TXDB), 1)...)
	f.Add(send)
	ext := uint64(54 | cqreg.TxdFirst | cqreg.TxdReport | cqreg.TxdExt | 3<<cqreg.TxdCountShift)
	tso := append(op(5, 0, 2048, ext), op(4, 2, cqreg.TxxTSO|cqreg.TxxL4Csum|1<<cqreg.TxxMSSShift)...)
	tso = append(tso, op(4, 3, headers)...)
	tso = append(tso, op(5, 4, 1024, 1000|cqreg.TxdLast)...)
	f.Add(append(tso, op(2, reg(0, cqreg.TXDB), 1)...))
	fill := op(5, 4*2*16, 4096, 2048<<cqreg.FldSizeShift)
	fill = append(fill, op(2, reg(0, cqreg.RXFL0TAIL), 1)...)
	f.Add(append(fill, op(0x86, 100)...))
	f.Add(append(op(0, cqreg.CTRL, cqreg.CtrlReset), send...))
	f.Add(op(0, reg(0, cqreg.TXCQARM), 1<<32-1))

	f.Fuzz(func(t *testing.T, program []byte) {
		r := rig.New(t, cqhw.New, cqreg.BARRegs)
		const words, ringBytes = 4096, 16 * cqreg.EntrySize
		arena := r.Alloc(8 * words)
		for i, lo := range []uint64{cqreg.TXBASELO, cqreg.TXCQLO, cqreg.RXCQLO, cqreg.RXFL0LO, cqreg.RXFL1LO} {
			r.Write64(reg(0, lo), arena+ringBytes*[]physmem.Addr{0, 1, 3, 4, 5}[i])
		}
		for _, l := range []uint64{cqreg.TXLEN, cqreg.TXCQLEN, cqreg.RXCQLEN, cqreg.RXFL0LEN, cqreg.RXFL1LEN} {
			r.BAR.Write32(reg(0, l), 16)
		}
		r.BAR.Write32(reg(0, cqreg.TXCTL), cqreg.QCtlEnable)
		r.BAR.Write32(reg(0, cqreg.RXCTL), cqreg.QCtlEnable)
		r.BAR.Write32(cqreg.MAXFRM, 9216)
		r.BAR.Write32(cqreg.CTRL, cqreg.CtrlTxEnable|cqreg.CtrlRxEnable|cqreg.CtrlRxCsum|cqreg.CtrlVLANTake)
		if n := r.BAR.Read64(nicreg.StatRefused); n != 0 {
			t.Fatalf("set-up was refused: %s", r.Console())
		}
		rig.Program(program).Run(r, 0x2000, arena, words)
	})
}
