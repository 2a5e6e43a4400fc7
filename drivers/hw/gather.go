package hw

// zeros is what frames are padded with. Nobody writes it.
var zeros [MinFrame]byte

// MinFrame is the shortest frame on a wire, without FCS: what Pad fills up to.
const MinFrame = 60

// GatherLen returns the bytes in a gather list.
func GatherLen(segs [][]byte) int {
	n := 0
	for _, s := range segs {
		n += len(s)
	}
	return n
}

// Linear returns the first n bytes of a gather list, fewer if it is shorter, in one
// piece: a part of the first segment when that holds them, else a copy in scratch, which
// bounds n.
func Linear(segs [][]byte, scratch []byte, n int) []byte {
	if len(segs) != 0 && len(segs[0]) >= n {
		return segs[0][:n:n]
	}
	scratch = scratch[:min(n, len(scratch))]
	got := 0
	for _, s := range segs {
		got += copy(scratch[got:], s)
		if got == len(scratch) {
			break
		}
	}
	return scratch[:got]
}

// Pad returns the zero bytes that a frame of n bytes lacks to MinFrame, nil if none:
// the segment to append (TCTL.PSP, HLREG0.TXPADEN; spec ports 9.2 rule 5).
func Pad(n int) []byte {
	if n >= MinFrame {
		return nil
	}
	return zeros[max(n, 0):]
}

// gatherPieces is how many pieces a received frame can be in: before the tag, after
// it, padding, FCS.
const gatherPieces = 4

// Gather is a received frame as the model wants it in memory (tag taken out, padded,
// FCS appended), copied piece by piece into the buffers of descriptors. The zero value
// is empty. One goroutine.
type Gather struct {
	segs [gatherPieces][]byte
	n    int // pieces
	at   int // piece that Copy reads next
	len  int // bytes not yet copied
}

// Reset empties g and begins it with frame.
func (g *Gather) Reset(frame []byte) {
	g.segs[0] = frame
	g.n, g.at, g.len = 1, 0, len(frame)
}

// Append adds a piece. There is room for gatherPieces in all, one more panics.
func (g *Gather) Append(b []byte) {
	if len(b) == 0 {
		return
	}
	g.segs[g.n] = b
	g.n++
	g.len += len(b)
}

// Cut takes bytes lo..hi out of the frame that Reset gave: the VLAN tag. It must be
// called before Append and Copy; a range outside the frame panics.
func (g *Gather) Cut(lo, hi int) {
	frame := g.segs[0]
	g.segs[0] = frame[:lo]
	g.segs[1] = frame[hi:]
	g.n = 2
	g.len -= hi - lo
}

// Len returns the bytes that Copy has not taken yet.
func (g *Gather) Len() int { return g.len }

// Copy moves the next bytes into dst, the DMA memory of a descriptor, and returns how
// many: all of dst unless the frame ends.
func (g *Gather) Copy(dst []byte) int {
	done := 0
	for g.at < g.n {
		n := copy(dst[done:], g.segs[g.at])
		done += n
		if n < len(g.segs[g.at]) {
			g.segs[g.at] = g.segs[g.at][n:]
			break
		}
		g.at++
	}
	g.len -= done
	return done
}
