package emhw_test

import (
	"encoding/binary"
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// hot are the registers that matter most; half of the fuzzer's accesses go there.
var hot = []uint64{emreg.TDT, emreg.TDH, emreg.TDLEN, emreg.TDBAL, emreg.TDBAH, emreg.TCTL, emreg.RDT, emreg.RDH, emreg.RDLEN,
	emreg.RDBAL, emreg.RDBAH, emreg.RCTL, emreg.RFCTL, emreg.RXCSUM, emreg.MRQC, emreg.CTRL, emreg.CTRLExt, emreg.ICR, emreg.ICS,
	emreg.IMS, emreg.IMC, emreg.IVAR, emreg.EIAC, emreg.EITR, emreg.ITR, emreg.TIDV, emreg.RDTR, emreg.MDIC, emreg.EECD, emreg.EERD,
	emreg.EEWR, emreg.VET, emreg.TDT + emreg.RingStride, emreg.TDLEN + emreg.RingStride, emreg.RAH, emreg.GORCH,
	emreg.EXTCNFCtrl, emreg.FEXTNVM11, emreg.RXDCTL, emreg.STATUS, emreg.FlashOwn + emreg.FlashHSFSTS, emreg.FlashOwn + emreg.FlashFADDR}

// FuzzRegisters does what data says to a NIC whose rings are made of data too: nothing
// may panic, hang or grow. An operation is six bytes: what, where and a value.
func FuzzRegisters(f *testing.F) {
	op := func(kind byte, where byte, v uint32) []byte {
		return binary.LittleEndian.AppendUint32([]byte{kind, where}, v)
	}
	f.Add(byte(0), []byte{}, []byte{})
	f.Add(byte(0), append(append(op(0, 2, 128), op(0, 5, 2)...), op(0, 0, 3)...), []byte{0, 0, 16, 0, 0, 0, 0, 0, 60, 0, 0, 0x0b, 0, 0, 0, 0})
	f.Add(byte(1), append(append(op(0, 8, 128), op(0, 11, 0x8012)...), append(op(0, 6, 3), op(3, 60, 0)...)...), []byte{0, 0, 16, 0, 0, 0, 0, 0})
	flash := append(op(0, 41, 4097), op(0, 40, 3<<24|1<<16)...)
	f.Add(byte(5), append(append(op(0, 36, 1<<5), op(0, 27, 2<<26|2<<21)...), flash...), []byte{})
	f.Add(byte(5), append(append(op(0, 2, 128), op(0, 5, 2)...), append(op(0, 37, 1<<13), append(op(0, 0, 3), op(0, 15, 1<<26)...)...)...), []byte{0, 0, 16, 0, 0, 0, 0, 0, 60, 0, 0, 2})
	f.Add(byte(2), append(op(0, 28, 1<<3|2<<4), op(2, 28, 0xffffffff)...), []byte{1})
	f.Fuzz(func(t *testing.T, chip byte, ops, mem []byte) {
		const maxOps, opLen = 200, 6
		k, _ := newKernel(t, stepped())
		p := null.New()
		b := plug(t, k, emhw.Chips()[int(chip)%len(emhw.Chips())], hw.Config{Name: "em0", Port: p, MAC: macHW})
		b.listen("intx", func() { b.read(emreg.ICR); b.write(emreg.IMC, 0xffffffff) })
		const ringBytes = 4096
		base := b.alloc(ringBytes)
		words := k.Mem.Words64(base, ringBytes/8)
		for i := range words { // the bytes, repeated: every descriptor is theirs
			for j := range 8 {
				if len(mem) > 0 {
					words[i] |= uint64(mem[(8*i+j)%min(len(mem), 256)]) << (8 * j)
				}
			}
			if i%2 == 0 && words[i]&1 == 0 {
				words[i] = uint64(base) // half of the buffers are good
			}
		}
		for q := range uint64(2) {
			b.write(emreg.TDBAL+q*emreg.RingStride, uint32(base))
			b.write(emreg.RDBAL+q*emreg.RingStride, uint32(base))
		}
		frame := rig.NewFlow(60).Build(t)
		for n := 0; len(ops) >= opLen && n < maxOps; n++ {
			v := binary.LittleEndian.Uint32(ops[2:])
			off := hot[int(ops[1])%len(hot)]
			switch ops[0] % 6 {
			case 0:
				b.write(off, v)
			case 1:
				b.read(off)
			case 2:
				b.write(uint64(v>>8)%emreg.BARSize&^3, v)
			case 3:
				p.Inject(port.RxFrame{Data: append(frame[:14:14], frame[14:14+int(ops[1])%(len(frame)-14)]...)})
			case 4:
				b.read(uint64(v) % emreg.BARSize &^ 3)
			case 5:
				p.SetLink(v&1 != 0)
			}
			ops = ops[opLen:]
			for range 8 {
				if !k.Step() {
					break
				}
			}
		}
		for _, c := range b.nic.(emhw.Counter).Counts() {
			if c.Value > 1<<32 {
				t.Errorf("%s counted %d times", c.Name, c.Value)
			}
		}
	})
}
