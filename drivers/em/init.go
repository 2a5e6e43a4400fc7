package em

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Init programs the hardware for traffic (em_if_init; spec 1g 6.4, whose steps the
// numbers are).
func (sc *softc) Init() {
	r := &sc.hw
	sc.mac = sc.ctx.Ifp().MAC()               // 1
	if err := sc.resetAndInit(); err != nil { // 2
		sc.ctx.Printf("%v\n", err)
		sc.ctx.InitFailed()
		return
	}
	if sc.chip.mac == mac82571 {
		// A reset of the other port overwrites RAR 0 (spec 1g 8).
		sc.WriteRAR(sc.RARs()-1, sc.mac, true)
	}
	sc.UpdateAdminStatus() // 3
	for i := range sc.path.tx {
		sc.path.tx[i].reset() // 4
	}
	r.Write32(emreg.VET, vlanEtherType)     // 5
	sc.initTransmit()                       // 8
	sc.MultiSet()                           // 9
	sc.initReceive()                        // 10, 11
	sc.SetupVLAN()                          // 12
	_ = sc.PromiscSet(sc.ctx.Ifp().Flags()) // 13; never fails
	sc.Stats.Discard(r)                     // 14
	if sc.msix {                            // 15
		r.Set(emreg.CTRLExt, emreg.CtrlExtPBAClr)
		r.Write32(emreg.IVAR, sc.ivar)
	}
	r.Read32(emreg.ICR) // 16
	r.Write32(emreg.ICS, emreg.ICRLSC)
}

// Bits of TARC(n) (spec 1g 6.4, 8).
const (
	tarcSpeedMode = 1 << 21 // SPEED_MODE_BIT of 82571
	tarcErrata    = 1 << 26 // 82574: the "Tx hang"
	tarcMulti     = 1<<7 | 1<<23 | 1<<24 | 1<<25 | tarcErrata
)

// txThresholds is TXDCTL: prefetch below 31 cached descriptors, host and write-back
// thresholds of 1, in descriptors.
const txThresholds = 0x1f | 1<<emreg.DCTLHthreshShift | 1<<emreg.DCTLWthreshShift | emreg.DCTLGran

// initTransmit programs the transmit unit (em_initialize_transmit_unit; spec 1g 6.4).
func (sc *softc) initTransmit() {
	r := &sc.hw
	for i := range sc.path.tx { // step 1
		q := &sc.path.tx[i]
		at := uint64(i) * emreg.RingStride
		r.Write32(emreg.TDLEN+at, q.Bytes())
		r.Write32(emreg.TDBAH+at, uint32(q.Addr>>32))
		r.Write32(emreg.TDBAL+at, uint32(q.Addr))
		r.Write32(emreg.TDT+at, 0)
		r.Write32(emreg.TDH+at, 0)
		txdctl := uint32(txThresholds) // step 2
		if !sc.chip.lem() {
			txdctl |= emreg.TXDCTLCountDesc
		}
		r.Write32(emreg.TXDCTL+at, txdctl)
	}
	// Step 3. As in FreeBSD delays are written in us, not in the timers' 1.024 us.
	r.Write32(emreg.TIPG, emreg.TIPGIPGTCopper|emreg.TIPGIPGR1<<emreg.TIPGIPGR1Shift|
		emreg.TIPGIPGR2<<emreg.TIPGIPGR2Shift)
	sc.path.cmd.Store(ideFor(sc.delays.tx.Value))
	r.Write32(emreg.TIDV, uint32(sc.delays.tx.Value))
	r.Write32(emreg.TADV, uint32(sc.delays.txAbs.Value))
	switch { // step 4
	case sc.chip.mac == mac82571:
		r.Set(emreg.TARC, tarcSpeedMode)
	case sc.chip.mac == mac82574 && len(sc.path.tx) > 1:
		r.Set(emreg.TARC, tarcMulti)
		r.Set(emreg.TARC+emreg.RingStride, tarcMulti)
	case sc.chip.mac == mac82574:
		r.Set(emreg.TARC, tarcErrata)
	}
	tctl := uint32(emreg.TCTLPSP | emreg.TCTLRTLC | emreg.TCTLEN | emreg.CollisionThreshold<<emreg.TCTLCTShift)
	if !sc.chip.lem() {
		tctl |= emreg.TCTLMULR
	}
	r.Change(emreg.TCTL, emreg.TCTLCT, tctl) // step 5: the unit starts
	sc.initTransmitPCH()                     // 6
}

// rxPrefetch is what RXDCTL gets on 82574: prefetch, host and write-back thresholds in
// descriptors (spec 1g 6.4 receive unit 5).
const rxPrefetch = 0x20 | 4<<emreg.DCTLHthreshShift | 4<<emreg.DCTLWthreshShift | emreg.DCTLGran

// initReceive programs the receive unit (em_initialize_receive_unit; spec 1g 6.4).
func (sc *softc) initReceive() {
	r := &sc.hw
	on := sc.ctx.Ifp().Capenable()
	if sc.chip.mac != mac82574 && sc.chip.mac != mac82583 { // step 1: once on, these must stay on
		sc.StopReceive()
	}
	sc.initModeration() // step 2
	if !sc.chip.lem() {
		rfctl := uint32(emreg.RFCTLEXTEN)
		if sc.chip.mac == mac82574 {
			rfctl |= emreg.RFCTLACKDis
		}
		r.Set(emreg.RFCTL, rfctl)
	}
	r.Write32(emreg.RXCSUM, sc.rxcsum(r.Read32(emreg.RXCSUM), on)) // step 3
	if len(sc.path.rx) > 1 {
		sc.initRSS()
	}
	size := mbuf.MClBytes // step 10 of Init: the buffers iflib is to post
	if sc.ctx.Softc().MaxFrameSize > mbuf.MClBytes {
		size = mbuf.MJumPageSize
	}
	sc.ctx.Softc().RxdBufSize[0] = size
	for i := range sc.path.rx { // step 4
		q := &sc.path.rx[i]
		q.BufSize = size
		q.Csum = on&ifnet.CapRxCsum != 0
		q.tags = on&ifnet.CapVLANHWTag != 0
		at := uint64(i) * emreg.RingStride
		r.Write32(emreg.RDLEN+at, q.Bytes())
		r.Write32(emreg.RDBAH+at, uint32(q.Addr>>32))
		r.Write32(emreg.RDBAL+at, uint32(q.Addr))
		r.Write32(emreg.RDH+at, 0)
		r.Write32(emreg.RDT+at, 0)
	}
	if sc.chip.mac == mac82574 { // step 5
		for i := range uint64(len(sc.path.rx)) {
			r.Set(emreg.RXDCTL+i*emreg.RingStride, rxPrefetch)
		}
	}
	if size > mbuf.MClBytes { // steps 8 and 9
		sc.StartReceive(emreg.RCTLSz4096 | emreg.RCTLBSEX)
	} else {
		sc.StartReceive(emreg.RCTLSz2048)
	}
}

// rxcsum is RXCSUM for the enabled capabilities.
func (sc *softc) rxcsum(old uint32, on ifnet.Caps) uint32 {
	const offload = emreg.RXCSUMIPOFL | emreg.RXCSUMTUOFL
	v := old &^ (offload | emreg.RXCSUMIPV6OFL)
	if on&ifnet.CapRxCsum != 0 {
		v |= offload
		if sc.chip.lem() && on&ifnet.CapRxCsumIPv6 != 0 {
			v |= emreg.RXCSUMIPV6OFL
		}
	}
	if len(sc.path.rx) > 1 {
		v |= emreg.RXCSUMPCSD
	}
	return v
}

// retaBytes is how many entries of RETA a register holds.
const retaBytes = 4

// initRSS spreads received flows over the queues of 82574 (em_initialize_rss_mapping;
// spec 1g 6.5).
func (sc *softc) initRSS() {
	e1000.WriteRSSKey(&sc.hw)
	var reta uint32
	for i := range retaBytes {
		if i%len(sc.path.rx) != 0 {
			reta |= emreg.RETAQueueBit << (8 * i)
		}
	}
	for i := range uint64(emreg.RETACount) {
		sc.hw.Write32(emreg.RETA+i*emreg.RegStride, reta)
	}
	sc.hw.Write32(emreg.MRQC, emreg.MRQCRSS2Queues|emreg.MRQCTCPIPv4|emreg.MRQCIPv4|emreg.MRQCTCPIPv6Ex|
		emreg.MRQCIPv6Ex|emreg.MRQCIPv6)
}
