package sysctl_test

import (
	"encoding/binary"
	"errors"
	"math"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/sysctl"
)

func TestFormatsOfSysctl8(t *testing.T) {
	le := binary.LittleEndian
	clock := le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 1000), 1000), 0), 127), 8126)
	load := le.AppendUint64(append(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 205), 410), 614), 0, 0, 0, 0), 2048)
	pages := le.AppendUint64(le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, 4096), 2097152), 1073741824), 0)
	hex, some := sysctl.FormatOptions{Hex: true}, sysctl.FormatOptions{Opaques: true}
	var none sysctl.FormatOptions
	int32s := func(v ...int32) (b []byte) {
		for _, x := range v {
			b = le.AppendUint32(b, uint32(x))
		}
		return b
	}
	tests := []struct {
		kind   sysctl.Kind
		format string
		value  []byte
		opt    sysctl.FormatOptions
		want   string
	}{
		{sysctl.KindInt, "I", int32s(-1, 2), none, "-1 2"},
		{sysctl.KindUint, "IU", int32s(-1), none, "4294967295"},
		{sysctl.KindInt, "I", int32s(50), hex, "0x00000032"},
		{sysctl.KindInt, "I", int32s(0), hex, "0000000000"},
		{sysctl.KindU8, "CU", []byte{255}, hex, "0xff"},
		{sysctl.KindS8, "C", []byte{255}, none, "-1"},
		{sysctl.KindU16, "SU", []byte{0x34, 0x12}, hex, "0x1234"},
		{sysctl.KindU64, "QU", le.AppendUint64(nil, math.MaxUint64), none, "18446744073709551615"},
		{sysctl.KindS64, "Q", le.AppendUint64(nil, 1), hex, "0x0000000000000001"},
		{sysctl.KindInt, "IK", int32s(3131), none, "40.0C"},
		{sysctl.KindInt, "IK0", int32s(300), none, "27C"},
		{sysctl.KindInt, "IK3", int32s(273150), none, "0.000C"},
		{sysctl.KindInt, "IK", int32s(-5), none, "-5"},
		{sysctl.KindString, "A", []byte("em0\x00x"), none, "em0"},
		{sysctl.KindOpaque, "S,clockinfo", clock, none, "{ hz = 1000, tick = 1000, profhz = 8126, stathz = 127 }"},
		{sysctl.KindOpaque, "S,loadavg", load, none, "{ 0.10 0.20 0.30 }"},
		{sysctl.KindOpaque, "S,pagesizes", pages, none, "{ 4096, 2097152, 1073741824 }"},
		{sysctl.KindOpaque, "S,input_id", []byte{3, 0, 0x86, 0x80, 1, 0, 2, 0}, none,
			"{ bustype = 0x0003, vendor = 0x8086, product = 0x0001, version = 0x0002 }"},
		{sysctl.KindOpaque, "S,foo", []byte{1, 2}, some, "Format:S,foo Length:2 Dump:0x0102..."},
		{sysctl.KindOpaque, "S,foo", make([]byte, 17), some, "Format:S,foo Length:17 Dump:0x00000000000000000000000000000000"},
		{sysctl.KindOpaque, "S,foo", make([]byte, 33), some, "Format:S,foo Length:33 Dump:0x00000000000000000000000000000000"},
		{sysctl.KindOpaque, "S,foo", make([]byte, 34), some, "Format:S,foo Length:34 Dump:0x00000000000000000000000000000000..."},
		{sysctl.KindOpaque, "S,foo", make([]byte, 18), hex, "Format:S,foo Length:18 Dump:0x000000000000000000000000000000000000"},
	}
	for _, tt := range tests {
		got, ok := sysctl.FormatValue(tt.kind, tt.format, tt.value, tt.opt)
		if !ok || got != tt.want {
			t.Errorf("%v %s % x: %q %v, want %q", tt.kind, tt.format, tt.value, got, ok, tt.want)
		}
	}
	for format, value := range map[string][]byte{"S,foo": {1}, "S,clockinfo": {1}} {
		if got, ok := sysctl.FormatValue(sysctl.KindOpaque, format, value, none); ok {
			t.Errorf("%s of %d byte shows as %q, want nothing", format, len(value), got)
		}
	}
}

func TestValuesParseAsInSysctl8(t *testing.T) {
	tests := []struct {
		kind         sysctl.Kind
		format, text string
		want         string
		message      string
	}{
		{sysctl.KindInt, "I", "0x10,, 010 -1", "\x10\x00\x00\x00\x08\x00\x00\x00\xff\xff\xff\xff", ""},
		{sysctl.KindUint, "IU", "-1", "\xff\xff\xff\xff", ""},
		{sysctl.KindU8, "CU", "300", "\x2c", ""},
		{sysctl.KindInt, "I", "4294967297", "\x01\x00\x00\x00", ""},
		{sysctl.KindInt, "I", "1k", "", "invalid integer '1k'"},
		{sysctl.KindU64, "QU", "99999999999999999999", "", "invalid uint64_t '99999999999999999999'"},
		{sysctl.KindUint, "IU", "1 x", "", "invalid unsigned integer 'x'"},
		{sysctl.KindInt, "I", "", "", "empty numeric value"},
		{sysctl.KindInt, "IK", "40.0C", "\x3c\x0c\x00\x00", ""}, // 3131.5 rounds up to 3132
		{sysctl.KindInt, "IK", "313.2K", "\x3c\x0c\x00\x00", ""},
		{sysctl.KindInt, "IK", "3132", "", "invalid integer '3132'"},
		{sysctl.KindString, "A", "a b", "a b", ""},
	}
	for _, tt := range tests {
		got, err := sysctl.ParseValue(tt.kind, tt.format, tt.text)
		var pe *sysctl.ParseError
		switch {
		case tt.message == "" && (err != nil || string(got) != tt.want):
			t.Errorf("%v %q: % x %v, want % x", tt.kind, tt.text, got, err, tt.want)
		case tt.message != "" && (!errors.As(err, &pe) || pe.Message != tt.message || !errors.Is(err, syscall.EINVAL)):
			t.Errorf("%v %q: %v, want %q", tt.kind, tt.text, err, tt.message)
		}
	}
}

func TestSetTextReturnsTheErrno(t *testing.T) {
	m := newMachine(t)
	var v atomic.Int32
	var b atomic.Bool
	m.c.Int(m.hw, "ro", sysctl.RDTUN, &v, "")
	m.c.Int(m.hw, "rw", sysctl.RW, &v, "")
	m.c.Bool(m.hw, "b", sysctl.RW, &b, "")
	for _, tt := range []struct {
		name, value string
		want        error
	}{{"hw.none", "1", syscall.ENOENT}, {"hw", "1", syscall.EISDIR}, {"hw.ro", "1", syscall.EPERM}, {"hw.rw", "x", syscall.EINVAL},
		{"hw.rw", "7", nil}, {"hw.b", "5", nil}} {
		if err := m.t.SetText(tt.name, tt.value); !errors.Is(err, tt.want) {
			t.Errorf("%s=%s: %v, want %v", tt.name, tt.value, err, tt.want)
		}
	}
	if v.Load() != 7 || m.text("hw.b") != "1" {
		t.Errorf("rw %d, b %s, want 7 and 1", v.Load(), m.text("hw.b"))
	}
}

// Field case 11: limits of tx_reclaim_thresh are half the ring.
func TestRangeCheckedHandlerKeepsItsOldValueOnError(t *testing.T) {
	m := newMachine(t)
	const ring = 1024
	var thresh atomic.Uint32
	m.c.Proc(m.hw, "tx_reclaim_thresh", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindU16, "SU", func(r *sysctl.Request) error {
		val, written, err := r.HandleInt(int64(thresh.Load()))
		if err != nil || !written {
			return err
		}
		if val > ring/2 {
			return syscall.EINVAL
		}
		thresh.Store(uint32(val))
		return nil
	}, "")
	for _, tt := range []struct {
		value, read string
		want        error
	}{{"256", "256", nil}, {"512", "512", nil}, {"513", "512", syscall.EINVAL}, {"0", "0", nil}} {
		if err := m.t.SetText("hw.tx_reclaim_thresh", tt.value); !errors.Is(err, tt.want) {
			t.Errorf("write %s: %v, want %v", tt.value, err, tt.want)
		}
		if got := m.text("hw.tx_reclaim_thresh"); got != tt.read {
			t.Errorf("after %s it reads %s, want %s", tt.value, got, tt.read)
		}
	}
}

func TestCounterIsZeroedByAnyWrite(t *testing.T) {
	m := newMachine(t)
	n := uint64(41)
	o := m.c.Counter(m.hw, "n", sysctl.RW, func() uint64 { return n }, func() { n = 0 }, "")
	if got := m.text("hw.n"); got != "41" || o.Flags()&sysctl.Stats == 0 {
		t.Errorf("reads %s with flags %#x, want 41 and Stats", got, o.Flags())
	}
	if err := m.t.SetText("hw.n", "9"); err != nil || n != 0 {
		t.Errorf("after a write %d, %v, want 0", n, err)
	}
}

func TestTicksHandlerShowsMilliseconds(t *testing.T) {
	m := newMachine(t)
	ticks := 5
	m.c.Proc(m.hw, "ms", sysctl.RW|sysctl.MPSafe, sysctl.KindInt, "I", func(r *sysctl.Request) error {
		v, written, err := r.HandleTicks(ticks, 100)
		if written {
			ticks = v
		}
		return err
	}, "")
	if got := m.text("hw.ms"); got != "50" {
		t.Errorf("5 ticks of 10 ms read %s, want 50", got)
	}
	if err := m.t.SetText("hw.ms", "9"); !errors.Is(err, syscall.EINVAL) || ticks != 5 {
		t.Errorf("less than a tick: %v, ticks %d, want EINVAL and 5", err, ticks)
	}
	if err := m.t.SetText("hw.ms", "70"); err != nil || ticks != 7 {
		t.Errorf("70 ms: %v, ticks %d, want 7", err, ticks)
	}
}
