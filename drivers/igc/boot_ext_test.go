package igc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestAttachLinesAreFreeBSDs(t *testing.T) {
	var console rig.Console
	m, err := machine.Boot(machine.Config{NCPU: 4, ThreadsPerCore: 1, MemSize: 128 << 20, Executor: kern.Stepped,
		Clock: kern.ManualClock, Invariants: true, Console: &console, Env: map[string]string{
			"hint.igc.0.port": "null", "hint.igc.1.device": "I226-V", "dev.igc.1.iflib.override_nrxds": "2048",
			"hint.igc.2.device": "I225-V", "dev.igc.2.iflib.disable_msix": "1"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, console.String())
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	want := `igc0: <Intel(R) Ethernet Controller I225-V> mem 0xc0000000-0xc001ffff,0xc0020000-0xc0023fff at device 0.0 on pci2
igc0: EEPROM V1.8-0
igc0: Using 1024 TX descriptors and 1024 RX descriptors
igc0: Using 4 RX queues 4 TX queues
igc0: Using MSI-X interrupts with 5 vectors
igc0: Ethernet address: 02:00:00:02:00:01
igc1: <Intel(R) Ethernet Controller I226-V> mem 0xc0040000-0xc005ffff,0xc0024000-0xc0027fff at device 0.0 on pci3
igc1: EEPROM V1.8-0
igc1: Using 1024 TX descriptors and 2048 RX descriptors
igc1: Using 4 RX queues 4 TX queues
igc1: Using MSI-X interrupts with 5 vectors
igc1: Ethernet address: 02:00:00:02:01:01
igc2: <Intel(R) Ethernet Controller I225-V> mem 0xc0060000-0xc007ffff,0xc0028000-0xc002bfff at device 0.0 on pci4
igc2: EEPROM V1.8-0
igc2: Using 1024 TX descriptors and 1024 RX descriptors
igc2: Using an MSI interrupt
igc2: Ethernet address: 02:00:00:02:02:01
`
	var got []string
	for _, line := range strings.SplitAfter(console.String(), "\n") {
		if strings.HasPrefix(line, "igc") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, strings.Join(got, "")); diff != "" {
		t.Errorf("console (-want +got):\n%s", diff)
	}
}
