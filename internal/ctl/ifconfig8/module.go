package ifconfig8

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
)

// modulePlaces are offsets in a transceiver module's memory.
type modulePlaces struct {
	connector, vendor, part, serial, date uint8

	readings             uint8 // I2C address of the device that has those below
	temperature, voltage uint8
	rxPower, txBias      uint8 // of the first lane
	lanes                int
}

// The two kinds of modules.
var (
	sfpPlaces = modulePlaces{connector: 2, vendor: 20, part: 40, serial: 68, date: 84, // SFF-8472
		readings: ifnet.I2CAddrA2, temperature: 96, voltage: 98, txBias: 100, rxPower: 104, lanes: 1}
	qsfpPlaces = modulePlaces{connector: 130, vendor: 148, part: 168, serial: 196, date: 212, // SFF-8636
		readings: ifnet.I2CAddrA0, temperature: 22, voltage: 26, rxPower: 34, txBias: 42, lanes: 4}
)

// Further places of an SFP module.
const (
	sfpEth10G   = 3
	sfpEth      = 6
	sfpExtended = 36
	sfpMonitors = 92

	// sfpMonitored are the bits of a module whose readings need no calibration.
	sfpMonitored = 0x60
)

// Further places of a QSFP module.
const (
	qsfpEth      = 131
	qsfpExtended = 192

	// qsfpIsExtended says that qsfpExtended has the specification.
	qsfpIsExtended = 0x80
)

// module reads a transceiver module; after an error there is nothing but zeros.
type module struct {
	ifp *ifnet.Ifnet
	err error
}

// read reads bytes, a few a request.
func (m *module) read(device, offset uint8, n int) []byte {
	data := make([]byte, 0, n)
	for len(data) < n && m.err == nil {
		req := ifnet.I2CReq{DevAddr: device, Offset: offset + uint8(len(data)), Len: uint8(min(n-len(data), ifnet.I2CDataLen))}
		if m.err = m.ifp.Ioctl(ifnet.IoctlGetI2C, &req); m.err == nil {
			data = append(data, req.Data[:req.Len]...)
		}
	}
	return append(data, make([]byte, n-len(data))...)
}

func (m *module) byteAt(offset uint8) byte { return m.read(ifnet.I2CAddrA0, offset, 1)[0] }

func (m *module) word(device, offset uint8) uint16 {
	return binary.BigEndian.Uint16(m.read(device, offset, 2))
}

// text is a text, without the blanks at its end.
func (m *module) text(offset uint8) string {
	const length = 16
	return strings.TrimRight(string(m.read(ifnet.I2CAddrA0, offset, length)), " \x00")
}

// moduleText are the lines about the module that is plugged in (sfp_status); "" without one.
func moduleText(ifp *ifnet.Ifnet) string {
	m := &module{ifp: ifp}
	id := m.byteAt(0)
	at, specification, isRead := sfpPlaces, m.sfpSpecification, m.sfpIsRead
	if isQSFP(id) {
		at, specification, isRead = qsfpPlaces, m.qsfpSpecification, m.qsfpIsRead
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\tplugged: %s %s (%s)\n", moduleID(id), specification(), connector(m.byteAt(at.connector)))
	if m.err != nil {
		return ""
	}
	const dateLength = 6
	date := m.read(ifnet.I2CAddrA0, at.date, dateLength)
	fmt.Fprintf(&b, "\tvendor: %s PN: %s SN: %s DATE: 20%s-%s-%s\n", m.text(at.vendor), m.text(at.part), m.text(at.serial), date[:2], date[2:4], date[4:])
	if isRead() {
		m.readings(&b, at)
	}
	return b.String()
}

// readings are what a module measures.
func (m *module) readings(b *strings.Builder, at modulePlaces) {
	const (
		degree    = 1. / 256 // of a temperature
		volt      = 1e-4
		milliwatt = 1e-4
		milliamp  = 2e-3
		decibel   = 10
		wordBytes = 2
	)
	temperature := int16(m.word(at.readings, at.temperature))
	fmt.Fprintf(b, "\tmodule temperature: %.2f C voltage: %.2f Volts\n", float64(temperature)*degree, float64(m.word(at.readings, at.voltage))*volt)
	for lane := range at.lanes {
		offset := uint8(lane * wordBytes)
		power := float64(m.word(at.readings, at.rxPower+offset)) * milliwatt
		dBm := "-inf"
		if power > 0 {
			dBm = fmt.Sprintf("%.2f", decibel*math.Log10(power))
		}
		fmt.Fprintf(b, "\tlane %d: RX power: %.2f mW (%s dBm) TX bias: %.2f mA\n", lane+1, power, dBm,
			float64(m.word(at.readings, at.txBias+offset))*milliamp)
	}
}

// sfpSpecification is the standard that an SFP module implements.
func (m *module) sfpSpecification() string {
	if code := m.byteAt(sfpExtended); code != 0 {
		return extended(code)
	}
	if name := lowestBit(m.byteAt(sfpEth10G), eth10G); name != "" {
		return name
	}
	if name := lowestBit(m.byteAt(sfpEth), eth1G); name != "" {
		return name
	}
	return "Unknown"
}

// sfpIsRead reports whether the module has readings.
func (m *module) sfpIsRead() bool {
	return m.byteAt(sfpMonitors)&sfpMonitored == sfpMonitored && m.err == nil
}

func (m *module) qsfpSpecification() string {
	code := m.byteAt(qsfpEth)
	if code&qsfpIsExtended != 0 {
		return extended(m.byteAt(qsfpExtended))
	}
	if name := lowestBit(code, eth40G); name != "" {
		return name
	}
	return "Unknown"
}

// qsfpIsRead takes a temperature for a sign of readings: the standard has no other.
func (m *module) qsfpIsRead() bool {
	return m.word(qsfpPlaces.readings, qsfpPlaces.temperature) != 0 && m.err == nil
}
