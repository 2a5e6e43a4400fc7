package igc_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/igc"
	"github.com/ifsim/ifsim/drivers/igc/igchw"
	"github.com/ifsim/ifsim/iflib/iflibtest"
)

// TestConformance runs the suite that judges any driver.
func TestConformance(t *testing.T) {
	for _, chip := range []string{"I225-V"} {
		t.Run(chip, func(t *testing.T) {
			iflibtest.Run(t, func() iflibtest.Device {
				return iflibtest.Device{Driver: &igc.Driver, Hardware: func(cfg hw.Config) (hw.NIC, error) { return igchw.New(chip, cfg) }}
			})
		})
	}
}
