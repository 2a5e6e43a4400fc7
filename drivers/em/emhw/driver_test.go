package emhw_test

import (
	"testing"

	"github.com/ifsim/ifsim/internal/machine/machinetest"
)

// The driver attaches to every chip, brings its link up, and breaks no rule while two
// hosts talk.
func TestDriverWorksWithEveryChip(t *testing.T) {
	for _, chip := range someChips() {
		t.Run(chip, func(t *testing.T) { machinetest.NewHosts(t, "em", chip, chip).Talk(t) })
	}
}
