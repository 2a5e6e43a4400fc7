package igb_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAttachLinesAreFreeBSDs(t *testing.T) {
	h := newHost(t, 4, 1, map[string]string{"hint.igb.0.port": "null", "hint.igb.1.device": "82576", "hint.igb.2.device": "I350",
		"dev.igb.2.iflib.disable_msix": "1", "dev.igb.1.iflib.override_ntxds": "4096"})
	want := `igb0: <Intel(R) I210 (Copper)> mem 0xc0000000-0xc001ffff,0xc0020000-0xc0023fff at device 0.0 on pci2
igb0: EEPROM V1.8-0
igb0: Using 1024 TX descriptors and 1024 RX descriptors
igb0: Using 4 RX queues 4 TX queues
igb0: Using MSI-X interrupts with 5 vectors
igb0: Ethernet address: 02:00:00:01:00:01
igb1: <Intel(R) PRO/1000 82576> mem 0xc0040000-0xc005ffff,0xc0024000-0xc0027fff at device 0.0 on pci3
igb1: EEPROM V1.8-0
igb1: Using 4096 TX descriptors and 1024 RX descriptors
igb1: Using 4 RX queues 4 TX queues
igb1: Using MSI-X interrupts with 5 vectors
igb1: Ethernet address: 02:00:00:01:01:01
igb2: <Intel(R) I350 (Copper)> mem 0xc0060000-0xc007ffff,0xc0028000-0xc002bfff at device 0.0 on pci4
igb2: EEPROM V1.8-0
igb2: Using 1024 TX descriptors and 1024 RX descriptors
igb2: Using an MSI interrupt
igb2: Ethernet address: 02:00:00:01:02:01
`
	var got []string
	for _, line := range strings.SplitAfter(h.console.String(), "\n") {
		if strings.HasPrefix(line, "igb") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, strings.Join(got, "")); diff != "" {
		t.Errorf("console (-want +got):\n%s", diff)
	}
}
