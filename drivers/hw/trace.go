package hw

import "github.com/ifsim/ifsim/internal/probe"

// probeSend is a frame that the port has taken.
var probeSend = probe.Define("hw", "port-send", "len", "pieces")

// traceSend shows the frames of slots i..j, which the port has taken. Behind Set.On.
func (b *TxBatch) traceSend(p *probe.Set, i, j uint32) {
	for ; i < j; i++ {
		p.FireNote(probeSend, b.cfg.Name, b.cfg.Queue, b.cfg.Port.Name(), uint64(b.slots[i].len), uint64(len(b.frames[i].Segs)))
	}
}
