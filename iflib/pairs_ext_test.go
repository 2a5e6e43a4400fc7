package iflib_test

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet"
)

// TestPartsOfEachDriverUnderstandEachOther wires every gigabit driver to every other one
// and sends every shape of packet both ways.
func TestPartsOfEachDriverUnderstandEachOther(t *testing.T) {
	gigabit := map[string]nicKind{}
	for _, k := range kinds {
		if _, have := gigabit[k.driver]; !have && k.sentStat != "" {
			gigabit[k.driver] = k
		}
	}
	way := 0
	for _, from := range []string{"em", "igb", "igc"} {
		for _, to := range []string{"em", "igb", "igc"} {
			if from == to {
				continue
			}
			path := paths[way%len(paths)]
			way++
			t.Run(from+" to "+to+"/"+path.name, func(t *testing.T) {
				w := newWire(t, wireConfig{kind: gigabit[from], peer: gigabit[to], path: path})
				w.up()
				w.caps(ifnet.CapTSO, ifnet.CapVLANHWFilter)
				packetsOfEveryShapeCrossUnchanged(t, w)
				w.t = t
				w.mtu(stdMTU)
				segmentedPacketsOfEveryShape(t, w)
				w.t = t
				framesForOthersAreDropped(t, w)
			})
		}
	}
}
