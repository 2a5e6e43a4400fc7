package hwbhw_test

import (
	"encoding/binary"
	"testing"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbhw"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// Where FuzzModel puts the rings in its arena, in bytes.
const (
	fuzzRing  = ringSize * hwbreg.EntrySize
	fuzzHead  = fuzzRing
	fuzzRx    = 2 * fuzzRing
	fuzzCmd   = 4 * fuzzRing
	fuzzRsp   = 6 * fuzzRing
	fuzzWords = 4096
)

// FuzzModel lets a program of register writes, descriptor and command words and frames
// loose on the model, with queue pair 0 and the admin queue enabled over an arena that
// the program writes.
func FuzzModel(f *testing.F) {
	write := func(off uint64, v byte) []byte {
		return append(binary.LittleEndian.AppendUint16([]byte{2}, uint16(off)), v)
	}
	word := func(i uint16, v uint64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16([]byte{4}, i), v)
	}
	buffer := func(i, at uint16, w1 uint64) []byte {
		b := binary.LittleEndian.AppendUint16([]byte{5}, i)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(b, at), w1)
	}
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	f.Add(join(buffer(0, 8192, data|64|last), write(reg(0, hwbreg.TXTAIL), 1)))
	f.Add(join(word(0, headers|1<<hwbreg.TxcMSSShift), word(1, ctx),
		buffer(2, 8192, data|1000|last|hwbreg.TxdTSO|hwbreg.TxdL4Csum), write(reg(0, hwbreg.TXTAIL), 2)))
	f.Add(join(buffer(fuzzRx/8, 8192, 0), write(reg(0, hwbreg.RXTAIL), 1), []byte{0x86, 100, 0}))
	for op := byte(1); op <= hwbreg.OpMaxFrame; op++ {
		f.Add(join(buffer(fuzzCmd/8, 8192, 104), word(fuzzCmd/8, uint64(op)), write(hwbreg.ACQTAIL, 1)))
	}
	f.Add(write(hwbreg.CTRL, hwbreg.CtrlReset))

	f.Fuzz(func(t *testing.T, program []byte) {
		r := rig.New(t, hwbhw.New, hwbreg.BARRegs)
		arena := r.Alloc(8 * fuzzWords)
		for reg, at := range map[uint64]physmem.Addr{
			hwbreg.ACQLO: fuzzCmd, hwbreg.ARQLO: fuzzRsp,
			reg(0, hwbreg.TXBASELO): 0, reg(0, hwbreg.TXHWBLO): fuzzHead, reg(0, hwbreg.RXBASELO): fuzzRx,
		} {
			r.Write64(reg, arena+at)
		}
		for _, w := range []struct {
			off uint64
			v   uint32
		}{
			{hwbreg.ACQLEN, adminSize}, {hwbreg.ARQLEN, adminSize}, {hwbreg.ADMCTL, hwbreg.AdmEnable},
			{reg(0, hwbreg.TXLEN), ringSize}, {reg(0, hwbreg.RXLEN), ringSize}, {reg(0, hwbreg.RXBUF), rxBufs},
			{reg(0, hwbreg.TXCTL), hwbreg.QCtlEnable}, {reg(0, hwbreg.RXCTL), hwbreg.QCtlEnable},
			{hwbreg.CTRL, hwbreg.CtrlTxEnable | hwbreg.CtrlRxEnable},
		} {
			r.BAR.Write32(w.off, w.v)
		}
		if n := r.BAR.Read64(nicreg.StatRefused); n != 0 {
			t.Fatalf("set-up was refused: %s", r.Console())
		}
		rig.Program(program).Run(r, 0x2000, arena, fuzzWords)
	})
}
