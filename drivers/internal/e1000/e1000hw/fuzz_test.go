package e1000hw_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// hot are the registers that matter most, by the numbers that a program names them with.
var hot = []uint64{
	emreg.CTRL, emreg.STATUS, emreg.CTRLExt, emreg.RCTL, emreg.TCTL, emreg.MDIC, emreg.EECD, emreg.SWSM, emreg.VET,
	emreg.ICR, emreg.ICS, emreg.IMS, emreg.IMC, e1000reg.IAM, e1000reg.GPIE, e1000reg.EICS, e1000reg.EIMS, e1000reg.EIMC,
	e1000reg.EIAC, e1000reg.EIAM, e1000reg.EICR, e1000reg.EITR, e1000reg.EITR + 4, e1000reg.IVAR0, e1000reg.IVARMisc,
	0x2800, 0x2804, 0x2808, 0x280c, 0x2810, 0x2818, 0x2828, 0xc030, 0x3800, 0x3804, 0x3808, 0x3810, 0x3818, 0x3828, 0x3838, 0x383c,
	0x3918, 0xe058, 0xe068, 0xe118, emreg.RXCSUM, emreg.RFCTL, e1000reg.RLPML, emreg.MRQC, emreg.RETA, emreg.RSSRK, emreg.MTA,
	emreg.RAH, emreg.VFTA, e1000reg.DTXTCPFLGL, emreg.GORCH, emreg.GORCL, 0x14, 0x12014, 0x12018,
}

// FuzzRegistersAndDescriptors does what data says to a part whose queues are set up:
// half of the accesses go to registers that matter. Nothing may panic, hang, or reach
// memory outside (which is the checked memory's to find).
func FuzzRegistersAndDescriptors(f *testing.F) {
	f.Add(byte(0), []byte{})
	f.Add(byte(0), []byte{0, 37, 2, 0, 0, 0, 5, 0, 0, 16, 0, 60, 0, 0x30, 0x2b, 0, 0, 15, 0, 0, 37, 4, 0, 0, 0})
	f.Add(byte(1), []byte{4, 0, 0, 14 << 1, 28, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0x0c, 0x20, 0x20, 0, 0, 0, 0, 0, 37, 1, 0, 0, 0, 6, 0, 4, 0x86})
	f.Add(byte(2), []byte{0, 14, 0x10, 0, 0, 0x40, 0, 23, 0x80, 0x80, 0x81, 0x81, 0, 16, 31, 0, 0, 0, 6, 60, 0, 0, 15, 2, 0, 0, 0})
	f.Add(byte(3), []byte{0, 48, 2, 0, 0x7f, 0, 6, 100, 0, 0x86, 0, 0, 0, 0, 0, 0x20, 0, 4})
	f.Fuzz(func(t *testing.T, chip byte, data []byte) {
		all := parts()
		b := newBoard(t, all[int(chip)%len(all)].name)
		const words = 2 * ringCount
		tx := b.txOn(0)
		rx := b.rxOn(0)
		b.write(0x3900, uint32(tx.addr)) // queue 1 on the same ring
		b.write(0x3908, ringCount*e1000reg.DescSize)
		b.write(0x3928, 1<<25)
		b.Connect(0)
		mem := [2][]uint64{tx.words, rx.words}
		p := rig.Program(data)
		const maxOps = 200
		for ops := 0; len(p) > 0 && ops < maxOps; ops++ {
			switch op := p.Byte(); op % 8 {
			case 0, 1, 2:
				b.write(hot[int(p.Byte())%len(hot)], uint32(p.Word(4)))
			case 3:
				b.read(hot[int(p.Byte())%len(hot)])
			case 4: // a descriptor word
				mem[op>>3&1][p.Byte()%words] = p.Word(8)
			case 5: // a descriptor that points to memory that is there
				i := int(p.Byte()) % (words - 1) &^ 1
				tx.words[i], tx.words[i+1] = 1<<20+p.Word(2), p.Word(8)
			case 6:
				n := 14 + int(p.Word(2)%2000)
				frame := rig.NewFlow(max(n-54, 0)).Build(t)[:n]
				copy(frame[12:], p[:min(len(p), n-12, int(op>>3))])
				b.Inject(frame)
			case 7:
				b.write(p.Word(3)%emreg.BARSize&^3, uint32(p.Word(4)))
			}
		}
		b.Sent()
		b.Settle()
		for _, c := range b.nic.(e1000hw.Counter).Counts() {
			if c.Value > 1<<32 {
				t.Errorf("%s counted %d times", c.Name, c.Value)
			}
		}
	})
}

// FuzzAnyAccess runs any program against any part, from power on.
func FuzzAnyAccess(f *testing.F) {
	f.Add(byte(0), []byte{0, 0x18, 0x38, 5, 0, 0, 0, 3, 0xc0, 0, 6, 0, 2})
	f.Fuzz(func(t *testing.T, chip byte, data []byte) {
		all := parts()
		b := newBoard(t, all[int(chip)%len(all)].name)
		const words = 512
		rig.Program(data).Run(b.Rig, emreg.BARSize, b.Alloc(8*words), words)
	})
}
