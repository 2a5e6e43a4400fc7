package em

import "github.com/ifsim/ifsim/internal/probe"

// probeWrite is a transmit descriptor as the driver wrote it.
var probeWrite = probe.Define("em", "txd-write", "index", "word0", "word1")
