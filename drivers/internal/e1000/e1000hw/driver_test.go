package e1000hw_test

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/internal/machine/machinetest"
)

// The drivers attach to every chip, bring its link up, use a vector for each queue and
// one more, and break no rule while two hosts talk.
func TestDriversWorkWithEveryChip(t *testing.T) {
	for _, p := range parts() {
		t.Run(p.name, func(t *testing.T) {
			driver := "igb"
			if strings.HasPrefix(p.name, "I22") {
				driver = "igc"
			}
			hosts := machinetest.NewHosts(t, driver, p.name, p.name)
			hosts.Talk(t)
			if out := hosts[0].Out.String(); !strings.Contains(out, "MSI-X interrupts with 3 vectors") {
				t.Errorf("console: %s", out)
			}
		})
	}
}
