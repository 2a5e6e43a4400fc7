package adv

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Init programs the hardware for traffic (em_if_init, igc_if_init; spec 1g 6.4, whose
// steps the numbers are).
func (sc *Softc) Init() {
	r := &sc.Regs
	sc.mac = sc.Ctx.Ifp().MAC()               // 1
	if err := sc.resetAndInit(); err != nil { // 2
		sc.Ctx.Printf("%v\n", err)
		sc.Ctx.InitFailed()
		return
	}
	sc.UpdateAdminStatus() // 3
	for i := range sc.tx {
		sc.tx[i].RSQ.Reset() // 4
	}
	r.Write32(emreg.VET, vlanEtherType)      // 5
	r.Set(emreg.RFCTL, emreg.RFCTLIPv6ExDis) // 6
	sc.initTransmit()                        // 8
	sc.MultiSet()                            // 9
	sc.initReceive()                         // 10, 11
	sc.SetupVLAN()                           // 12
	_ = sc.PromiscSet(sc.Ctx.Ifp().Flags())  // 13; never fails
	sc.Stats.Discard(r)                      // 14
	if sc.msix {                             // 15
		sc.routeInterrupts()
	} else {
		sc.vectors[0].start()
	}
	r.Read32(emreg.ICR) // 16
	r.Write32(emreg.ICS, emreg.ICRLSC)
	if sc.Part.HasEEE { // 17
		sc.initEEE()
	}
}

// initTransmit programs the transmit unit (em_initialize_transmit_unit; spec 1g 6.4). A
// queue is set up while it is off.
func (sc *Softc) initTransmit() {
	r := &sc.Regs
	for i := range sc.tx {
		q := &sc.tx[i]
		at := e1000reg.TxQueue(i)
		r.Write32(at+e1000reg.DCTL, sc.Part.TXDCTL&^e1000reg.DCTLEnable)
		r.Write32(at+e1000reg.LEN, q.Bytes())
		r.Write32(at+e1000reg.BAH, uint32(q.Addr>>32))
		r.Write32(at+e1000reg.BAL, uint32(q.Addr))
		r.Write32(at+e1000reg.TAIL, 0)
		r.Write32(at+e1000reg.HEAD, 0)
		r.Write32(at+e1000reg.DCTL, sc.Part.TXDCTL|e1000reg.DCTLEnable)
	}
	r.Change(emreg.TCTL, emreg.TCTLCT, emreg.TCTLPSP|emreg.TCTLRTLC|emreg.TCTLEN|
		emreg.CollisionThreshold<<emreg.TCTLCTShift)
}

// Thresholds of RXDCTL, in descriptors (IGB_RX_PTHRESH, IGB_RX_HTHRESH), and what is
// kept of it.
const (
	rxPthresh  = 8
	rxHthresh  = 8
	rxdctlKeep = 0xfff00000
)

// initReceive programs the receive unit (em_initialize_receive_unit; spec 1g 6.4).
func (sc *Softc) initReceive() {
	r := &sc.Regs
	sc.StopReceive() // 1
	on := sc.Ctx.Ifp().Capenable()
	r.Write32(emreg.RXCSUM, sc.Part.RXCSUM(r.Read32(emreg.RXCSUM), on, len(sc.rx))) // 3
	if len(sc.rx) > 1 {
		sc.initRSS()
	}
	frame := sc.Ctx.Softc().MaxFrameSize
	size := mbuf.MClBytes // step 10 of Init: the buffers iflib is to post
	if frame > mbuf.MClBytes {
		size = mbuf.MJumPageSize
	}
	sc.Ctx.Softc().RxdBufSize[0] = size
	if frame > ifnet.EtherMTU+e1000.FrameExtra { // 6
		// FreeBSD leaves room for a tag only where there are VLANs by now, and does not
		// look again when one is configured.
		if on&ifnet.CapVLANMTU != 0 {
			frame += ifnet.EtherVLANEncapLen
		}
		r.Write32(e1000reg.RLPML, uint32(frame))
	}
	for i := range sc.rx { // 4, 7
		sc.rx[i].BufSize = size
		sc.rx[i].Csum = on&ifnet.CapRxCsum != 0
		sc.initRxQueue(i)
	}
	sc.StartReceive(emreg.RCTLSz2048) // 8, 9; the size is each queue's own
}

func (sc *Softc) initRxQueue(i int) {
	r, q := &sc.Regs, &sc.rx[i]
	at := e1000reg.RxQueue(i)
	r.Clear(at+e1000reg.DCTL, e1000reg.DCTLEnable)
	r.Write32(at+e1000reg.LEN, q.Bytes())
	r.Write32(at+e1000reg.BAH, uint32(q.Addr>>32))
	r.Write32(at+e1000reg.BAL, uint32(q.Addr))
	r.Write32(at+e1000reg.HEAD, 0)
	r.Write32(at+e1000reg.TAIL, 0)
	srrctl := uint32((q.BufSize+e1000reg.SRRCTLPktUnit-1)/e1000reg.SRRCTLPktUnit) | e1000reg.SRRCTLDescOneBuf
	if len(sc.rx) > 1 && !sc.SendsPause() {
		srrctl |= e1000reg.SRRCTLDropEn // a queue that is full does not hold the others up
	}
	r.Write32(at+e1000reg.SRRCTL, srrctl)
	r.Write32(at+e1000reg.DCTL, r.Read32(at+e1000reg.DCTL)&rxdctlKeep|rxPthresh|rxHthresh<<emreg.DCTLHthreshShift|
		sc.Part.RxWthresh(sc.msix)<<emreg.DCTLWthreshShift|e1000reg.DCTLEnable)
}
