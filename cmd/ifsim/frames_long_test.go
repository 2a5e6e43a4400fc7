//go:build long

package main

const vethFrames = 1_000_000
