package emreg

import (
	"fmt"

	"github.com/ifsim/ifsim/internal/bitname"
)

// Status and errors of receive descriptors (spec 1g 3.2, 3.3).
var (
	rxdStats = []bitname.Bit{{Mask: RxdStatDD, Name: "DD"}, {Mask: RxdStatEOP, Name: "EOP"}, {Mask: RxdStatIXSM, Name: "IXSM"},
		{Mask: RxdStatVP, Name: "VP"}, {Mask: RxdStatUDPCS, Name: "UDPCS"}, {Mask: RxdStatTCPCS, Name: "TCPCS"}, {Mask: RxdStatIPCS, Name: "IPCS"},
		{Mask: RxdStatPIF, Name: "PIF"}, {Mask: RxdStatIPIDV, Name: "IPIDV"}, {Mask: RxdStatUDPV, Name: "UDPV"}}
	rxdErrors = []bitname.Bit{{Mask: RxdErrCE, Name: "CE"}, {Mask: RxdErrSE, Name: "SE"}, {Mask: RxdErrSEQ, Name: "SEQ"}, {Mask: RxdErrCXE, Name: "CXE"},
		{Mask: RxdErrTCPE, Name: "TCPE"}, {Mask: RxdErrIPE, Name: "IPE"}, {Mask: RxdErrRXE, Name: "RXE"}}
)

const (
	lenField      = 0xffff
	extStatusBits = 0xfffff
)

// DecodeRxDesc describes an extended receive descriptor (spec 1g 3.3) by the names of its
// fields: a buffer, or what was written back over it. Any words will do.
func DecodeRxDesc(words [2]uint64) string {
	d2, d3 := uint32(words[1]), uint32(words[1]>>dwordBits)
	if d2&RxdStatDD == 0 {
		return fmt.Sprintf("buffer addr=%#x", words[0])
	}
	d0 := uint32(words[0])
	return fmt.Sprintf("extended rsstype=%d queue=%d hash=%#08x status=%s errors=%s len=%d vlan=%#04x", d0&RxdMRQTypeMask,
		d0>>RxdMRQQueueShift&1, uint32(words[0]>>dwordBits), bitname.List(d2&extStatusBits, rxdStats),
		bitname.List(d2>>RxdExtErrShift, rxdErrors), d3&lenField, d3>>RxdExtVLANShift)
}

// DecodeRxLegacy describes a legacy receive descriptor (spec 1g 3.2) in the same way.
func DecodeRxLegacy(words [2]uint64) string {
	d2, d3 := uint32(words[1]), uint32(words[1]>>dwordBits)
	if d3&RxdStatDD == 0 {
		return fmt.Sprintf("buffer addr=%#x", words[0])
	}
	return fmt.Sprintf("legacy addr=%#x len=%d csum=%#04x status=%s errors=%s special=%#04x", words[0], d2&lenField,
		d2>>RxdLegacyCsumShift, bitname.List(d3&byteField, rxdStats), bitname.List(d3>>RxdLegacyErrShift&byteField, rxdErrors),
		d3>>RxdLegacyVLANShift)
}
