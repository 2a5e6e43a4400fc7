//go:build long

package altqbench

import (
	"testing"
	"time"
)

// Everything on wires, a second or two each: rates, shares, and who counts what.
func TestWiresAreAsTheorySays(t *testing.T) {
	report(t, runWires(t, Options{Duration: 2 * time.Second}))
}
