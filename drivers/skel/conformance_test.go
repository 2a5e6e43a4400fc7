package skel_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/skel"
	"github.com/ifsim/ifsim/drivers/skel/skelhw"
	"github.com/ifsim/ifsim/iflib/iflibtest"
)

// TestConformance runs the driver through the whole contract with iflib.
func TestConformance(t *testing.T) {
	iflibtest.Run(t, func() iflibtest.Device {
		return iflibtest.Device{Driver: &skel.Driver, Hardware: skelhw.New}
	})
}
