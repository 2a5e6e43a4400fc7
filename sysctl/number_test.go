package sysctl_test

import (
	"fmt"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/sysctl"
)

// fetched registers a tunable of the kind and returns the bytes its handler was given.
func fetched(tb testing.TB, kind sysctl.Kind, text string) (value []byte, ok bool) {
	m := newMachine(tb, "hw.x="+text)
	m.c.Proc(m.hw, "x", sysctl.RDTUN|sysctl.MPSafe, kind, "", func(r *sysctl.Request) error {
		if !r.HasNew() {
			return nil
		}
		ok = true
		for {
			b, err := r.In(kind.Size())
			if err != nil {
				return nil
			}
			value = append(value, b...)
		}
	}, "")
	m.wantLog("")
	return value, ok
}

var integerKinds = []sysctl.Kind{sysctl.KindInt, sysctl.KindUint, sysctl.KindLong, sysctl.KindUlong, sysctl.KindS64, sysctl.KindU64,
	sysctl.KindU8, sysctl.KindU16, sysctl.KindS8, sysctl.KindS16, sysctl.KindS32, sysctl.KindU32}

func TestArrayTunablesAgreeWithBigNumbers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(integerKinds).Draw(rt, "kind")
		var text strings.Builder
		var want []byte
		valid := true
		for i := range rapid.IntRange(1, 5).Draw(rt, "elements") {
			if i > 0 {
				text.WriteString(rapid.SampledFrom([]string{",", " ", ", ", "\t"}).Draw(rt, "separator"))
			}
			v := big.NewInt(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-300, 70000)).Draw(rt, "value"))
			form := rapid.SampledFrom([]string{"%d", "%#x", "%#o"}).Draw(rt, "form")
			suffix := rapid.SampledFrom([]string{"", "", "k", "K", "m", "G", "t"}).Draw(rt, "suffix")
			fmt.Fprintf(&text, form+"%s", v, suffix)
			shifted := new(big.Int).Lsh(v, uint(map[string]int{"k": 10, "m": 20, "g": 30, "t": 40}[strings.ToLower(suffix)]))
			bits := uint(kind.Size() * 8)
			low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
			if kind.Signed() {
				high.Rsh(high, 1)
				low.Neg(high)
			}
			if !kind.Signed() && v.Sign() < 0 || !shifted.IsInt64() || shifted.Cmp(low) < 0 || shifted.Cmp(high) >= 0 {
				valid = false
			}
			word := new(big.Int).And(shifted, new(big.Int).SetUint64(1<<64-1)).Uint64()
			for range kind.Size() {
				want = append(want, byte(word))
				word >>= 8
			}
		}
		if !valid {
			want = nil
		}
		got, ok := fetched(t, kind, text.String())
		if ok != valid || string(got) != string(want) {
			rt.Fatalf("%v %q: % x %v, want % x %v", kind, text.String(), got, ok, want, valid)
		}
	})
}

func TestTunableSyntax(t *testing.T) {
	tests := []struct {
		text string
		want string
	}{
		{"0x10k", "16384"}, {"010", "8"}, {"08", ""}, {"0x", ""}, {" +5", "5"}, {"5 ", "5"}, {"5,", "5"}, {"5;", ""},
		{"12q", ""}, {"1kk", ""}, {"", ""}, {",5", ""}, {"1k2", "1024"}, {"99999999999999999999", "9223372036854775807"},
		{"-99999999999999999999", "-9223372036854775808"}, {"9t", "9895604649984"}, {"9999999999t", ""}, {"- 5", ""}, {"true", ""},
	}
	for _, tt := range tests {
		m := newMachine(t, "hw.x="+tt.text)
		var v atomic.Int64
		const untouched = 77
		v.Store(untouched)
		m.c.S64(m.hw, "x", sysctl.RDTUN, &v, "")
		got := fmt.Sprint(v.Load())
		if v.Load() == untouched {
			got = ""
		}
		if got != tt.want {
			t.Errorf("%q gives %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestTooManyElementsSpoilAnArrayTunable(t *testing.T) {
	if _, ok := fetched(t, sysctl.KindU64, strings.Repeat("1 ", 64)); !ok {
		t.Error("64 elements of 8 bytes were refused")
	}
	if _, ok := fetched(t, sysctl.KindU64, strings.Repeat("1,", 62)+"1 1 1"); ok {
		t.Error("65 elements of 8 bytes were taken")
	}
}

func FuzzTunable(f *testing.F) {
	for _, s := range []string{"0x10k", "12q", "-1", "300", "5,6 7", "1k2", "99999999999999999999", "08", "0x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "\x00") || len(s) > 120 {
			return
		}
		for _, kind := range integerKinds {
			value, ok := fetched(t, kind, s)
			if ok != (len(value) > 0) || len(value) > 512 {
				t.Errorf("%v %q: taken %v with %d bytes", kind, s, ok, len(value))
			}
			text, _ := sysctl.FormatValue(kind, "", value, sysctl.FormatOptions{})
			if again, ok2 := fetched(t, kind, text); len(text) < 120 && ok && (kind.Signed() || kind.Size() < 8) &&
				(!ok2 || string(again) != string(value)) {
				t.Errorf("%v %q prints as %q, which reads as % x", kind, s, text, again)
			}
			_, _ = sysctl.ParseValue(kind, "", s)
		}
		_, _ = sysctl.ParseValue(sysctl.KindInt, "IK", s)
	})
}
