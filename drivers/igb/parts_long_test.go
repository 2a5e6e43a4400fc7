//go:build long

package igb_test

// allParts has the suite ask everything of every part.
const allParts = true
