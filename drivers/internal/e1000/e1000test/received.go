package e1000test

import (
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Received is what a packet's descriptors gave, and what the path has counted by then.
type Received struct {
	NFrags, Len int
	VTag        uint16
	FlowID      uint32
	CsumFlags   mbuf.CsumFlags
	CsumData    uint32
	Flags       mbuf.Flags
	RSSType     mbuf.HashType
	Err         error
	BadWB, Drop uint64
}

// Get takes the packet at cidx of queue 0; counted are the path's bad write-backs and
// drops.
func Get(path iflib.TxRx, cidx iflib.QIdx, counted func() (bad, dropped uint64)) (Received, []iflib.RxdFrag) {
	var frags [iflib.MaxRxSegs]iflib.RxdFrag
	ri := iflib.RxdInfo{Cidx: cidx, Frags: &frags}
	err := path.RxdPktGet(&ri)
	bad, dropped := counted()
	return Received{ri.NFrags, ri.Len, ri.VTag, ri.FlowID, ri.CsumFlags, ri.CsumData, ri.Flags, ri.RSSType, err,
		bad, dropped}, frags[:ri.NFrags]
}
