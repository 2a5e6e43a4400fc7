package quietbench

import (
	"math"
	"testing"
)

func TestOnlySlicesOfAnUnsharedCoreCount(t *testing.T) {
	samples := []sample{{900, 5}, {210, 2.5}, {200, 2.52}, {100, 4}, {220, 2.55}, {500, 2.7}}
	if median, share := unshared(samples, 2.5); median != 210 || share != 0.5 {
		t.Errorf("median %v of %v of the slices, want 210 of half", median, share)
	}
	if median, share := unshared(samples, 1); !math.IsNaN(median) || share != 0 {
		t.Errorf("median %v, share %v of no slices", median, share)
	}
}
