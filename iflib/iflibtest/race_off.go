//go:build !race

package iflibtest

const raceEnabled = false
