package skelhw_test

import (
	"bytes"
	"hash/crc32"
	"testing"

	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestFrameFillsTheBuffersItNeeds(t *testing.T) {
	b := newBench(t)
	b.fill(10)
	long, short := rig.Ether(1400), rig.Ether(60)
	b.Inject(long, short)
	for i, want := range []uint64{512, 512, 376 | end, 60 | end} {
		if word0, s := b.got(i); s != want || word0 != 0 {
			t.Errorf("descriptor %d is %#x %#x, want 0 %#x", i, word0, s, want)
		}
	}
	var data []byte
	for i, n := range []int{512, 512, 376} {
		data = append(data, b.Bytes(b.bufs[i], n)...)
	}
	if !bytes.Equal(data, long) {
		t.Errorf("memory has %x\nwant %x", data, long)
	}
	b.wantStat(t, skelreg.StatRxFrames, 2)
}

func TestWhatIsFoundOutAboutAFrame(t *testing.T) {
	good := rig.TCP(100, false, false)
	badIP, badTCP := bytes.Clone(good), bytes.Clone(good)
	badIP[24] ^= 1
	badTCP[60] ^= 1
	hash := uint64(crc32.ChecksumIEEE(good[26:38])) // addresses and ports stand together
	for name, tc := range map[string]struct {
		frame []byte
		state uint64
		hash  uint64
	}{
		"good":      {good, 154 | end | ipSum | l4Sum | hashed, hash},
		"bad IP":    {badIP, 154 | end | l4Sum | hashed, hash},
		"bad TCP":   {badTCP, 154 | end | ipSum | hashed, hash},
		"tagged":    {rig.Tagged(good, 0xe123), 154 | 0xe123<<16 | end | tag | ipSum | l4Sum | hashed, hash},
		"priority":  {rig.Tagged(rig.Ether(60), 0), 60 | end | tag, 0},
		"not of IP": {rig.Ether(60), 60 | end, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.BAR.Write32(skelreg.RXMODE, skelreg.RxTakeTag|skelreg.RxCheck)
			b.fill(2)
			b.Inject(tc.frame)
			if word0, s := b.got(0); s != tc.state || word0 != tc.hash {
				t.Errorf("descriptor is %#x %#x, want %#x %#x", word0, s, tc.hash, tc.state)
			}
		})
	}
}

func TestNothingIsFoundOutUnlessAsked(t *testing.T) {
	b := newBench(t)
	b.fill(2)
	b.Inject(rig.Tagged(rig.TCP(100, false, false), 5))
	if _, s := b.got(0); s != 158|end|hashed {
		t.Errorf("descriptor is %#x, want %#x", s, 158|end|uint64(hashed))
	}
}

func TestAddressFilter(t *testing.T) {
	to := func(mac ...byte) []byte { return append(mac, rig.Ether(60)[6:]...) }
	other, group17, group18 := to(2, 0, 0, 0, 0, 9), to(1, 0, 0x5e, 0, 0, 17), to(1, 0, 0x5e, 0, 0, 18)
	all := to(0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	for name, tc := range map[string]struct {
		mode uint32
		want [5]uint64 // own, other, group 17, group 18, broadcast
	}{
		"plain":       {0, [5]uint64{1, 0, 1, 0, 1}},
		"all groups":  {skelreg.RxAllMulti, [5]uint64{1, 0, 1, 1, 1}},
		"promiscuous": {skelreg.RxPromisc, [5]uint64{1, 1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, f := range [][]byte{rig.Ether(60), other, group17, group18, all} {
				b := newBench(t)
				b.BAR.Write64(skelreg.GROUPLO, 1<<17)
				b.BAR.Write32(skelreg.RXMODE, tc.mode)
				b.fill(2)
				b.Inject(f)
				b.wantStat(t, skelreg.StatRxFrames, tc.want[i])
				b.wantStat(t, skelreg.StatRxFilter, 1-tc.want[i])
			}
		})
	}
}

func TestLongestFrame(t *testing.T) {
	b := newBench(t)
	b.fill(20)
	b.Inject(rig.Ether(1514), rig.Tagged(rig.Ether(1514), 1))
	b.wantStat(t, skelreg.StatRxFrames, 2)
	b.Inject(rig.Ether(1515), rig.Tagged(rig.Ether(1515), 1))
	b.wantStat(t, skelreg.StatRxErrors, 2)
}

func TestReceiverThatIsOffFilters(t *testing.T) {
	b := newBench(t)
	b.fill(2)
	b.BAR.Write32(skelreg.CTRL, skelreg.CtrlTxOn)
	b.Inject(rig.Ether(60))
	b.wantStat(t, skelreg.StatRxFilter, 1)
}

func TestQueueWithoutBuffersSleepsUntilTheBell(t *testing.T) {
	b := newBench(t)
	b.Inject(rig.Ether(60))
	b.wantStat(t, skelreg.StatRxMissed, 1) // it starts asleep
	b.fill(1)
	b.Inject(rig.Ether(600), rig.Ether(60))
	b.wantStat(t, skelreg.StatRxMissed, 3) // 600 bytes need two: it sleeps, and misses what would fit
	b.BAR.Write32(reg(0, skelreg.RXBELL), 1)
	b.Inject(rig.Ether(60))
	b.wantStat(t, skelreg.StatRxFrames, 1)
}

func TestBufferOutsideMemoryIsAnError(t *testing.T) {
	b := newBench(t)
	b.rx[0], b.rx[1] = 1<<40, own
	b.BAR.Write32(reg(0, skelreg.RXBELL), 1)
	b.Inject(rig.Ether(60))
	b.wantStat(t, skelreg.StatRxErrors, 1)
}

func TestFlowsSpreadByTheHash(t *testing.T) {
	b := newBench(t)
	rx := b.Alloc(ringSize * skelreg.DescBytes)
	b.Write64(reg(1, skelreg.RXBASELO), rx)
	b.BAR.Write32(reg(1, skelreg.RXBUF), bufSize)
	b.BAR.Write32(reg(1, skelreg.RXLEN), ringSize)
	b.BAR.Write32(skelreg.RXMODE, skelreg.RxSpread)
	words := b.Words(rx, 2*skelreg.DescWords)
	words[0], words[1] = uint64(b.Alloc(bufSize)), own
	b.BAR.Write32(reg(1, skelreg.RXBELL), 1)
	b.fill(2)
	f := rig.TCP(100, false, false)
	for crc32.ChecksumIEEE(f[26:38])%2 == 0 {
		f[35]++ // the source port
	}
	b.Inject(f)
	if words[1] != 154|end|hashed || words[0] != uint64(crc32.ChecksumIEEE(f[26:38])) {
		t.Errorf("pair 1 has %#x %#x", words[0], words[1])
	}
	b.Inject(rig.Ether(60))
	if _, s := b.got(0); s != 60|end {
		t.Errorf("pair 0 has %#x", s)
	}
}
