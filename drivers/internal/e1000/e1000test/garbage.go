package e1000test

// Garbage deals out bytes of a fuzz input, round and round.
type Garbage struct {
	Data []byte
	at   int
}

// Byte is the next byte.
func (g *Garbage) Byte() byte {
	if len(g.Data) == 0 {
		return 0
	}
	b := g.Data[g.at%len(g.Data)]
	g.at++
	return b
}

// Word is the next eight, as one number.
func (g *Garbage) Word() (v uint64) {
	for range 8 {
		v = v<<8 | uint64(g.Byte())
	}
	return v
}

// Spoil is a Board.Fuzz that replaces about every other value read.
func (g *Garbage) Spoil(_ uint64, v uint32) uint32 {
	if b := g.Byte(); b&1 != 0 {
		return uint32(g.Word())
	}
	return v
}
