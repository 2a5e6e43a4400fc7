//go:build !long

package main

// vethFrames are sent each way over a veth pair; -tags long sends a million.
const vethFrames = 100_000
