package ifnet

import "strings"

const (
	mbps uint64 = 1_000_000
	gbps uint64 = 1_000_000_000
)

// mediaSubtype is one Ethernet subtype.
type mediaSubtype struct {
	word  MediaWord
	name  string
	speed uint64 // bit/s, 0 if unknown
}

// mediaSubtypes are the Ethernet subtypes of the six drivers; how "base" is
// written differs and is part of the output (spec ifnet 9).
var mediaSubtypes = [...]mediaSubtype{
	{MediaAuto, "autoselect", 0},
	{MediaManual, "manual", 0},
	{MediaNone, "none", 0},
	{Media10T, "10baseT/UTP", 10 * mbps},
	{Media100TX, "100baseTX", 100 * mbps},
	{Media100FX, "100baseFX", 100 * mbps},
	{Media1000SX, "1000baseSX", 1 * gbps},
	{Media1000LX, "1000baseLX", 1 * gbps},
	{Media1000CX, "1000baseCX", 1 * gbps},
	{Media1000T, "1000baseT", 1 * gbps},
	{Media10GLR, "10Gbase-LR", 10 * gbps},
	{Media10GSR, "10Gbase-SR", 10 * gbps},
	{Media10GCX4, "10Gbase-CX4", 10 * gbps},
	{Media2500SX, "2500BaseSX", 2500 * mbps},
	{Media10GTwinax, "10Gbase-Twinax", 10 * gbps},
	{Media10GTwinaxLong, "10Gbase-Twinax-Long", 10 * gbps},
	{Media10GLRM, "10Gbase-LRM", 10 * gbps},
	{MediaUnknown, "Unknown", 0},
	{Media10GT, "10Gbase-T", 10 * gbps},
	{Media40GCR4, "40Gbase-CR4", 40 * gbps},
	{Media40GSR4, "40Gbase-SR4", 40 * gbps},
	{Media40GLR4, "40Gbase-LR4", 40 * gbps},
	{Media1000KX, "1000Base-KX", 1 * gbps},
	{MediaOther, "Other", 0},
	{Media10GKX4, "10GBase-KX4", 10 * gbps},
	{Media10GKR, "10GBase-KR", 10 * gbps},
	{Media10GCR1, "10GBase-CR1", 10 * gbps},
	{Media20GKR2, "20GBase-KR2", 20 * gbps},
	{Media2500KX, "2500Base-KX", 2500 * mbps},
	{Media2500T, "2500Base-T", 2500 * mbps},
	{Media5000T, "5000Base-T", 5 * gbps},
	{Media1000SGMII, "1000Base-SGMII", 1 * gbps},
	{Media10GSFI, "10GBase-SFI", 10 * gbps},
	{Media40GXLPPI, "40GBase-XLPPI", 40 * gbps},
	{Media40GKR4, "40GBase-KR4", 40 * gbps},
	{Media100GCR4, "100GBase-CR4", 100 * gbps},
	{Media100GSR4, "100GBase-SR4", 100 * gbps},
	{Media100GKR4, "100GBase-KR4", 100 * gbps},
	{Media100GLR4, "100GBase-LR4", 100 * gbps},
	{Media100T, "100BaseT", 100 * mbps},
	{Media25GCR, "25GBase-CR", 25 * gbps},
	{Media25GKR, "25GBase-KR", 25 * gbps},
	{Media25GSR, "25GBase-SR", 25 * gbps},
	{Media50GCR2, "50GBase-CR2", 50 * gbps},
	{Media50GKR2, "50GBase-KR2", 50 * gbps},
	{Media25GLR, "25GBase-LR", 25 * gbps},
	{Media10GAOC, "10GBase-AOC", 10 * gbps},
	{Media25GACC, "25GBase-ACC", 25 * gbps},
	{Media25GAOC, "25GBase-AOC", 25 * gbps},
	{Media100SGMII, "100M-SGMII", 100 * mbps},
	{Media2500X, "2500Base-X", 2500 * mbps},
	{Media5000KR, "5000Base-KR", 5 * gbps},
	{Media25GT, "25GBase-T", 25 * gbps},
	{Media40GXLAUI, "40G-XLAUI", 40 * gbps},
	{Media40GXLAUIAC, "40G-XLAUI-AC", 40 * gbps},
	{Media50GSR, "50GBase-SR", 50 * gbps},
	{Media50GLR, "50GBase-LR", 50 * gbps},
	{Media50GKRPAM4, "50GBase-KR-PAM4", 50 * gbps},
	{Media200GCR4PAM4, "200GBase-CR4-PAM4", 200 * gbps},
	{Media200GSR4, "200GBase-SR4", 200 * gbps},
	{Media200GLR4, "200GBase-LR4", 200 * gbps},
}

// mediaAliases are further words that ifconfig takes for a subtype.
var mediaAliases = [...]struct {
	name string
	word MediaWord
}{
	{"auto", MediaAuto},
	{"10baseT", Media10T}, {"UTP", Media10T}, {"10UTP", Media10T}, {"10T/UTP", Media10T},
	{"100TX", Media100TX}, {"100FX", Media100FX},
	{"1000SX", Media1000SX}, {"1000LX", Media1000LX}, {"1000CX", Media1000CX},
	{"1000baseTX", Media1000T}, {"1000TX", Media1000T}, {"1000T", Media1000T},
}

// mediaOptions are the options in the order ifconfig prints them (spec ifnet 12.1).
var mediaOptions = [...]struct {
	word MediaWord
	name string
}{
	{MediaFDX, "full-duplex"}, {MediaHDX, "half-duplex"}, {MediaFlow, "flowcontrol"},
	{MediaFlag0, "flag0"}, {MediaFlag1, "flag1"}, {MediaFlag2, "flag2"}, {MediaLoop, "hw-loopback"},
	{MediaMaster, "master"}, {MediaRxPause, "rxpause"}, {MediaTxPause, "txpause"},
}

func findSubtype(w MediaWord) (mediaSubtype, bool) {
	for _, s := range mediaSubtypes {
		if s.word == w&MediaSubtypeMask {
			return s, true
		}
	}
	return mediaSubtype{}, false
}

// Subtype is the word's subtype with extended bits (IFM_SUBTYPE).
func (w MediaWord) Subtype() MediaWord { return w & MediaSubtypeMask }

// SubtypeName is the text of the subtype, "<unknown subtype>" for a number that
// Ethernet does not have.
func (w MediaWord) SubtypeName() string {
	if s, ok := findSubtype(w); ok {
		return s.name
	}
	return "<unknown subtype>"
}

// Options are the names of the options set, in ifconfig's order.
func (w MediaWord) Options() []string {
	var names []string
	for _, o := range mediaOptions {
		if w&o.word != 0 {
			names = append(names, o.name)
		}
	}
	return names
}

// Name is subtype and options as ifconfig prints them: "1000baseT <full-duplex>".
func (w MediaWord) Name() string {
	if opts := w.Options(); len(opts) > 0 {
		return w.SubtypeName() + " <" + strings.Join(opts, ",") + ">"
	}
	return w.SubtypeName()
}

// Instance is the instance number, 0 to 15 (IFM_INST).
func (w MediaWord) Instance() int { return int(w >> mediaInstShift) }

const mediaInstShift = 28

// Baudrate is the speed of the subtype in bit/s, 0 if unknown (ifmedia_baudrate).
func (w MediaWord) Baudrate() uint64 {
	s, _ := findSubtype(w)
	return s.speed
}

// ParseMediaSubtype finds the Ethernet subtype that ifconfig's user means, by name
// or alias, whatever the case.
func ParseMediaSubtype(name string) (MediaWord, bool) {
	for _, s := range mediaSubtypes {
		if strings.EqualFold(s.name, name) {
			return MediaEther | s.word, true
		}
	}
	for _, a := range mediaAliases {
		if strings.EqualFold(a.name, name) {
			return MediaEther | a.word, true
		}
	}
	return 0, false
}

// ParseMediaOption finds the option of that name.
func ParseMediaOption(name string) (MediaWord, bool) {
	for _, o := range mediaOptions {
		if strings.EqualFold(o.name, name) {
			return o.word, true
		}
	}
	return 0, false
}
