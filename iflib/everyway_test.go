package iflib_test

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet"
)

// wayTests are the properties that hold on every part and path. They share a wire: each
// leaves it with the configuration that it found.
var wayTests = []struct {
	name string
	f    func(t *testing.T, w *wire)
}{
	{"packets of every shape cross unchanged", packetsOfEveryShapeCrossUnchanged},
	{"headers split at every offset", headersSplitAtEveryOffset},
	{"chains of 1 to 40 buffers", chainsOf1To40Buffers},
	{"frames below minimum size arrive padded with zeros", framesBelowMinimumSizeArrivePaddedWithZeros},
	{"shared data is not written to", sharedDataIsNotWrittenTo},
	{"UDP checksum of zero is sent as ones", udpChecksumOfZeroIsSentAsOnes},
	{"requests that do not fit the packet are ignored", requestsThatDoNotFitThePacketAreIgnored},
	{"every segment size up to the MTU", everySegmentSizeUpToTheMTU},
	{"segmented packets of every shape", segmentedPacketsOfEveryShape},
	{"largest packet is segmented", largestPacketIsSegmented},
	{"segments of known packet", segmentsOfKnownPacket},
	{"tag is not inserted twice", tagIsNotInsertedTwice},
	{"tag stays in the frame without tag taking", tagStaysInTheFrameWithoutTagTaking},
	{"tag is taken out of the frame", tagIsTakenOutOfTheFrame},
	{"frames for others are dropped", framesForOthersAreDropped},
	{"verdicts on checksums", verdictsOnChecksums},
	{"capture sees each sent packet once", captureSeesEachSentPacketOnce},
}

// TestEveryPartOnEveryPath runs them all, and in the end compares what one NIC sent with
// what the other received, by every account there is.
func TestEveryPartOnEveryPath(t *testing.T) {
	way := 0
	for i, kind := range kinds {
		for j, path := range paths {
			if testing.Short() && (i+j)%len(paths) != 0 {
				continue // one path for each part
			}
			t.Run(kind.chip+"/"+path.name, func(t *testing.T) {
				w := newWire(t, wireConfig{kind: kind, path: path})
				w.way = way
				w.up()
				// Tags are the test's, not those of VLANs that were configured.
				w.caps(ifnet.CapTSO, ifnet.CapVLANHWFilter)
				caps := w.ifp[0].Capenable()
				for _, test := range wayTests {
					t.Run(test.name, func(t *testing.T) {
						w.t = t
						w.take(1)
						test.f(t, w)
					})
					w.t = t
					if w.ifp[0].MTU() != stdMTU {
						w.mtu(stdMTU)
					}
					if w.ifp[0].Capenable() != caps {
						w.caps(caps, 0)
					}
				}
			})
			way++
		}
	}
}

// someKinds are all parts, or, with -short, one of each way to drive it that differs
// most.
func someKinds() []nicKind {
	if testing.Short() {
		return []nicKind{kinds[0], kinds[2]}
	}
	return kinds
}

// shares is how many parts and paths share the steps of a long loop with -short.
const shares = 6

// first and step are where a loop of this wire begins and how it goes on: with -short
// each step is taken by two of the wires.
func (w *wire) first() int { return w.way % w.step() }

func (w *wire) step() int {
	if testing.Short() {
		return shares
	}
	return 1
}
