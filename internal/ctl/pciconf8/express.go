package pciconf8

import "fmt"

// Registers and bits of the PCI Express capability (FreeBSD's PCIER_* and PCIEM_*).
const (
	pcieFlags   = 0x02
	pcieDevCap  = 0x04
	pcieDevCtl  = 0x08
	pcieDevSta  = 0x0a
	pcieLinkCap = 0x0c
	pcieLinkSta = 0x12

	flagsVersion   = 0x000f
	flagsTypeShift = 4
	flagsTypeMask  = 0xf

	capPayload      = 0x00000007
	capFLR          = 0x10000000
	ctlPayloadShift = 5
	ctlPayloadMask  = 7
	ctlRelaxed      = 0x0010
	ctlNoSnoop      = 0x0800
	ctlReadShift    = 12
	ctlReadMask     = 7

	linkSpeed      = 0x000f
	linkWidthShift = 4
	linkWidthMask  = 0x3f

	smallestPayload = 128
)

// Names of values; those that the tables lack are undefined.
var (
	expressTypes = map[uint32]string{0: "endpoint", 1: "legacy endpoint", 4: "root port", 5: "upstream port",
		6: "downstream port", 7: "PCI bridge", 8: "PCI to PCIe bridge", 9: "root endpoint", 10: "event collector"}
	linkSpeeds = map[uint32]string{1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
	readSizes  = map[uint32]string{0: "128", 1: "256", 2: "512", 3: "1024", 4: "2048", 5: "4096"}
)

// nameOf is the name of a value in a table.
func nameOf(table map[uint32]string, v uint32) string {
	if s, ok := table[v]; ok {
		return s
	}
	return "undef"
}

// expressText is the capability of a PCI Express function (cap_express).
func expressText(read config, reg int) string {
	flags := read(reg+pcieFlags, halfWidth)
	kind, ok := expressTypes[flags>>flagsTypeShift&flagsTypeMask]
	if !ok {
		kind = fmt.Sprintf("type %d", flags>>flagsTypeShift&flagsTypeMask)
	}
	can, ctl := read(reg+pcieDevCap, 4), read(reg+pcieDevCtl, halfWidth)
	return fmt.Sprintf("PCI-Express %d %s max data %d(%d)", flags&flagsVersion, kind,
		smallestPayload<<(ctl>>ctlPayloadShift&ctlPayloadMask), smallestPayload<<(can&capPayload)) +
		when(can&capFLR != 0, " FLR") + when(ctl&ctlRelaxed != 0, " RO") + when(ctl&ctlNoSnoop != 0, " NS") +
		continued + "max read " + nameOf(readSizes, ctl>>ctlReadShift&ctlReadMask) + linkText(read, reg)
}

// linkText is the line about the link, nothing if there is none.
func linkText(read config, reg int) string {
	can, now := read(reg+pcieLinkCap, 4), read(reg+pcieLinkSta, halfWidth)
	if can == 0 && now == 0 {
		return ""
	}
	width, widest := now>>linkWidthShift&linkWidthMask, can>>linkWidthShift&linkWidthMask
	text := fmt.Sprintf("%slink x%d(x%d)", continued, width, widest)
	if widest == 0 {
		return text
	}
	speed := "0.0"
	if width != 0 {
		speed = nameOf(linkSpeeds, now&linkSpeed)
	}
	return text + fmt.Sprintf(" speed %s(%s)", speed, nameOf(linkSpeeds, can&linkSpeed))
}
