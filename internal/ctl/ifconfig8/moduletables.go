package ifconfig8

// moduleIDs are kinds of modules (SFF-8024 table 4-1), with ifconfig's short names.
var moduleIDs = [...]string{"Unknown", "GBIC", "SFF", "SFP/SFP+/SFP28", "XBI", "Xenpak", "XFP", "XFF", "XFP-E", "XPAK", "X2", "DWDM-SFP/SFP+",
	"QSFP", "QSFP+", "CXP", "HD4X", "HD8X", "QSFP28", "CXP2", "CDFP", "SMM4", "SMM8", "CDFP3", "microQSFP", "QSFP-DD", "QSFP8X", "SFP-DD", "DSFP",
	"x4MiniLink/OcuLink", "x8MiniLink", "QSFP+(CMIS)"}

// Kinds whose memory is a QSFP module's.
const (
	idQSFP     = 0x0c
	idQSFPPlus = 0x0d
	idQSFP28   = 0x11
)

func isQSFP(id byte) bool { return id == idQSFP || id == idQSFPPlus || id == idQSFP28 }

func moduleID(id byte) string {
	const lastReserved = 0x80
	switch {
	case int(id) < len(moduleIDs):
		return moduleIDs[id]
	case id > lastReserved:
		return "Vendor specific"
	}
	return "Reserved"
}

// connectors are kinds of connectors (SFF-8024 table 4-3).
var connectors = map[byte]string{0x00: "Unknown", 0x01: "SC", 0x02: "Fibre Channel Style 1 copper", 0x03: "Fibre Channel Style 2 copper",
	0x04: "BNC/TNC", 0x05: "Fibre Channel coaxial", 0x06: "Fiber Jack", 0x07: "LC", 0x08: "MT-RJ", 0x09: "MU", 0x0a: "SG", 0x0b: "Optical pigtail",
	0x0c: "MPO 1x12 Parallel Optic", 0x0d: "MPO 2x16 Parallel Optic", 0x20: "HSSDC II", 0x21: "Copper pigtail", 0x22: "RJ45",
	0x23: "No separable connector", 0x24: "MXC 2x16", 0x25: "CS optical connector", 0x26: "Mini CS optical connector",
	0x27: "MPO 2x12 Parallel Optic", 0x28: "MPO 1x16 Parallel Optic"}

func connector(code byte) string {
	const lastUnallocated = 0x7f
	name, ok := connectors[code]
	switch {
	case ok:
		return name
	case code <= lastUnallocated:
		return "Unallocated"
	}
	return "Vendor specific"
}

// Standards by bit, the lowest first: of 10 and 1 gigabit of SFP modules, and of QSFP modules.
var (
	eth10G = [...]string{"1X Copper Passive", "1X Copper Active", "1X LX", "1X SX", "10G Base-SR", "10G Base-LR", "10G Base-LRM", "10G Base-ER"}
	eth1G  = [...]string{"1000BASE-SX", "1000BASE-LX", "1000BASE-CX", "1000BASE-T", "100BASE-LX/LX10", "100BASE-FX", "BASE-BX10", "BASE-PX"}
	eth40G = [...]string{"40G Active Cable", "40GBASE-LR4", "40GBASE-SR4", "40GBASE-CR4", "10GBASE-SR", "10GBASE-LR", "10GBASE-LRM", "Extended"}
)

// lowestBit is the name of the lowest bit that is set, "" for none.
func lowestBit(code byte, names [8]string) string {
	for n, name := range names {
		if code>>n&1 != 0 {
			return name
		}
	}
	return ""
}

// extendedCodes are extended specifications (SFF-8024 table 4-4).
var extendedCodes = map[byte]string{0x00: "Unspecified", 0x01: "100G AOC (Active Optical Cable) or 25GAUI C2M AOC", 0x02: "100GBASE-SR4 or 25GBASE-SR",
	0x03: "100GBASE-LR4 or 25GBASE-LR", 0x04: "100GBASE-ER4 or 25GBASE-ER", 0x05: "100GBASE-SR10", 0x06: "100G CWDM4", 0x07: "100G PSM4 Parallel SMF",
	0x08: "100G ACC (Active Copper Cable) or 25GAUI C2M ACC", 0x09: "Obsolete", 0x0b: "100GBASE-CR4 or 25GBASE-CR CA-L", 0x0c: "25GBASE-CR CA-25G-S",
	0x0d: "25GBASE-CR CA-25G-N", 0x10: "40GBASE-ER4", 0x11: "4 x 10GBASE-SR", 0x12: "40G PSM4 Parallel SMF", 0x16: "10GBASE-T with SFI electrical interface",
	0x17: "100G CLR4", 0x18: "100G AOC or 25GAUI C2M AOC", 0x19: "100G ACC or 25GAUI C2M ACC", 0x1a: "100GE-DWDM2", 0x1b: "100G 1550nm WDM",
	0x1c: "10GBASE-T Short Reach", 0x1d: "5GBASE-T", 0x1e: "2.5GBASE-T", 0x1f: "40G SWDM4", 0x20: "100G SWDM4", 0x21: "100G PAM4 BiDi",
	0x22: "4WDM-10 MSA", 0x23: "4WDM-20 MSA", 0x24: "4WDM-40 MSA", 0x25: "100GBASE-DR", 0x26: "100G-FR", 0x27: "100G-LR",
	0x40: "50GBASE-CR/100GBASE-CR2/200GBASE-CR4", 0x41: "50GBASE-SR/100GBASE-SR2/200GBASE-SR4", 0x42: "50GBASE-FR or 200GBASE-DR4",
	0x43: "200GBASE-FR4", 0x44: "200G 1550nm PSM4", 0x45: "50GBASE-LR", 0x46: "200GBASE-LR4"}

// extended is an extended specification.
func extended(code byte) string {
	if name, ok := extendedCodes[code]; ok {
		return name
	}
	return "Reserved"
}
