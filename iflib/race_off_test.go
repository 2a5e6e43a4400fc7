//go:build !race

package iflib_test

const raceEnabled = false
