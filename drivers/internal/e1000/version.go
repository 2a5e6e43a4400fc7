package e1000

import (
	"fmt"

	"github.com/ifsim/ifsim/drivers/em/emreg"
)

// Words and fields of the NVM that version its content (NVM_VERSION, NVM_ETRACK_WORD;
// spec 1g 5.7).
const (
	nvmETrackA     = 0x42 // NVM_ETRACK_WORD
	nvmETrackB     = 0x43 // NVM_ETRACK_HIWORD
	nvmETrackValid = 0x8000
	nvmMajorMask   = 0xf000

	versionMajorShift = 12
	versionMinorShift = 4
	versionMinorMask  = 0xff
	versionBuildMask  = 0xf
	nvmNothing        = 0xffff
)

// FirmwareText is the version of the NVM's content as the drivers print it, empty
// without one (em_sbuf_fw_version).
func FirmwareText(n NVM) string {
	w, err := n.ReadWord(emreg.NVMVersion)
	if err != nil || w == 0 || w == nvmNothing {
		return ""
	}
	s := fmt.Sprintf("EEPROM V%d.%d-%d", w>>versionMajorShift, w>>versionMinorShift&versionMinorMask, w&versionBuildMask)
	if id := etrack(n); id != 0 {
		s += fmt.Sprintf(" eTrack 0x%08x", id)
	}
	return s
}

// etrack is the number of the image; which of its words is the high one says the
// second's top bit (e1000_get_fw_version).
func etrack(n NVM) uint32 {
	a, errA := n.ReadWord(nvmETrackA)
	b, errB := n.ReadWord(nvmETrackB)
	switch {
	case errA != nil || errB != nil || a == nvmNothing && b == nvmNothing:
		return 0
	case b&nvmMajorMask == nvmETrackValid:
		return uint32(b)<<16 | uint32(a)
	case b&nvmETrackValid == 0:
		return uint32(a)<<16 | uint32(b)
	}
	return 0
}
