package hw

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

// slowSum is RFC 1071 word by word.
func slowSum(b []byte) uint16 {
	var s uint32
	for i := 0; i+1 < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	if len(b)&1 != 0 {
		s += uint32(b[len(b)-1]) << 8
	}
	for s>>16 != 0 {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

func TestSumAgreesWithRFC1071AtEveryLength(t *testing.T) {
	b := pattern(1500)
	for n := range b {
		if got, want := Sum(b[:n]), slowSum(b[:n]); got != want {
			t.Fatalf("Sum of %d bytes = %#x, want %#x", n, got, want)
		}
	}
	ones := make([]byte, 700)
	for i := range ones {
		ones[i] = 0xff
	}
	for n := 1; n < len(ones); n++ {
		if got, want := Sum(ones[:n]), slowSum(ones[:n]); got != want {
			t.Fatalf("Sum of %d bytes 0xff = %#x, want %#x", n, got, want)
		}
	}
	if got := Sum(make([]byte, 100)); got != 0 {
		t.Errorf("Sum of zeros = %#x, want 0", got)
	}
	if got := Sum([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}); got != 0xddf2 { // the RFC's example
		t.Errorf("Sum of the RFC's example = %#x, want 0xddf2", got)
	}
}

func TestSumGatherIgnoresWhereTheListIsCut(t *testing.T) {
	b := pattern(211)
	for i := range b {
		for j := i; j < len(b); j += 13 {
			for off := range 5 {
				if got, want := SumGather(split(b, i, j), off, len(b)-2*off), slowSum(b[off:len(b)-off]); got != want {
					t.Fatalf("cut at %d and %d from %d: %#x, want %#x", i, j, off, got, want)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "bytes")
		off := rapid.IntRange(0, len(b)).Draw(t, "off")
		n := rapid.IntRange(0, len(b)+10).Draw(t, "n")
		want := slowSum(b[off:min(off+n, len(b))])
		if got := SumGather(drawSplit(t, b), off, n); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
	})
}

func TestSubSumUndoesAddSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint16Range(1, 0xffff).Draw(t, "a"), rapid.Uint16Range(1, 0xffff).Draw(t, "b")
		if got := SubSum(AddSum(a, b), b); AddSum(got, 0)%0xffff != a%0xffff {
			t.Fatalf("%#x + %#x - %#x = %#x", a, b, b, got)
		}
	})
}

func TestCRC32cGatherSkipsTheField(t *testing.T) {
	b := pattern(97)
	table := crc32.MakeTable(crc32.Castagnoli)
	for field := 3; field < len(b)-4; field++ {
		clean := append([]byte(nil), b...)
		clear(clean[field : field+4])
		for at := 0; at <= len(b); at += 5 {
			if got, want := CRC32cGather(split(b, at), 3, len(b), field), crc32.Checksum(clean[3:], table); got != want {
				t.Fatalf("field %d cut %d: %#x, want %#x", field, at, got, want)
			}
		}
	}
}

func TestFCSLeavesTheEthernetResidue(t *testing.T) {
	b := pattern(60)
	framed := binary.LittleEndian.AppendUint32(append([]byte(nil), b...), FCS(b[:13], b[13:]))
	if got := FCS(framed); got != 0x2144df1c {
		t.Errorf("residue %#x, want 0x2144df1c", got)
	}
}

func BenchmarkSum1300(b *testing.B) {
	p := pattern(1300)
	b.ReportAllocs()
	b.SetBytes(1300)
	for b.Loop() {
		sink = uint32(Sum(p))
	}
}

var sink uint32
