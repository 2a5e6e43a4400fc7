//go:build long

package em_test

// allParts has the suite ask everything of every part.
const allParts = true
