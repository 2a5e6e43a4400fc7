package adv

import "github.com/ifsim/ifsim/internal/probe"

// probeWrite is a transmit descriptor as the driver wrote it.
var probeWrite = probe.Define("igb", "txd-write", "index", "word0", "word1")
