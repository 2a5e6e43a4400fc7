//go:build !long

package em_test

// allParts has the suite ask everything of every part, not of the first alone.
const allParts = false
