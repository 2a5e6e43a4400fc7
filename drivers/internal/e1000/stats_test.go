package e1000

import "testing"

func TestStatsAddUpWhatReadingClears(t *testing.T) {
	b, r := bench(t)
	s := NewStats([]Stat{{Name: "a", Reg: 0x4010}, {Name: "octets", Reg: 0x4088, Pair: true}})
	for range 2 {
		b.SetReg(0x4010, 0xffffffff)
		b.SetReg(0x4088, 7)
		b.SetReg(0x408c, 1)
		s.Update(r)
	}
	for reg, want := range map[uint64]uint64{0x4010: 2 * 0xffffffff, 0x4088: 2 * (1<<32 + 7), 0x4000: 0} {
		if got := s.Sum(reg); got != want {
			t.Errorf("sum of %#x = %d, want %d", reg, got, want)
		}
	}
	b.SetReg(0x4010, 5)
	b.SetReg(0x408c, 5)
	s.Discard(r)
	s.Update(r)
	if got := s.Sum(0x4010); got != 2*0xffffffff {
		t.Errorf("discarded count was added: %d", got)
	}
}

func TestAIMRates(t *testing.T) {
	giga := Conditions{Mode: AIMNormal, MaxRate: 8000, Gigabit: true}
	with := func(f func(*Conditions)) Conditions { c := giga; f(&c); return c }
	for _, tc := range []struct {
		name  string
		cond  Conditions
		frame uint64
		want  int
	}{
		{"small frames", giga, 60, 20000},
		{"small frames, low latency", with(func(c *Conditions) { c.Mode = AIMLowLatency }), 60, 70000},
		{"middle", giga, 776, 4_000_000 / 266},                                                           // (776+24)/3
		{"below the middle", with(func(c *Conditions) { c.Mode = AIMLowLatency }), 260, 4_000_000 / 142}, // (260+24)/2
		{"large", giga, 1514, 4_000_000 / 769},                                                           // (1514+24)/2
		{"beyond the cap", giga, 60000, 4_000_000 / 1500},                                                // 3000/2
		{"off", with(func(c *Conditions) { c.Mode = AIMOff }), 60, 8000},
		{"slow link", with(func(c *Conditions) { c.Gigabit = false }), 60, 4000},
		{"tight buffer", with(func(c *Conditions) { c.Tight = true }), 60, 8000},
		{"no traffic", giga, 0, 0},
	} {
		var a AIM
		load := Load{Bytes: tc.frame * 10, Packets: 10}
		if tc.frame == 0 {
			load = Load{}
		}
		if got := a.Rate(tc.cond, Load{}, load); got != tc.want {
			t.Errorf("%s: %d interrupts a second, want %d", tc.name, got, tc.want)
		}
		if got := a.Rate(giga, Load{}, load); got != 0 {
			t.Errorf("%s: %d without new traffic, want 0", tc.name, got)
		}
	}
}
