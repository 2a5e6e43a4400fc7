//go:build race

package iflib_test

const raceEnabled = true
