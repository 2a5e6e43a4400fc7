package iflibtest

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em"
	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

func em82574() Device {
	return Device{Driver: &em.Driver, Hardware: func(cfg hw.Config) (hw.NIC, error) { return emhw.New("82574L", cfg) }}
}

// faulty stands before a good driver and plants one fault: a hook that is set takes the
// place of the method. The driver's other methods show through.
type faulty struct {
	iflib.Device
	ctx  *iflib.Ctx
	path faultyPath

	attachPre   func(d *faulty) error
	attachPost  func(d *faulty) error
	detach      func(d *faulty) error
	initialise  func(d *faulty)
	stop        func(d *faulty)
	mtuSet      func(d *faulty, mtu int) error
	promiscSet  func(d *faulty, flags ifnet.Flags) error
	adminStatus func(d *faulty)
	getCounter  func(d *faulty, c ifnet.Counter) uint64
	timer       func(d *faulty, qid int)
	vlanRemove  func(d *faulty, vtag uint16)

	rings   []iflib.QueueMem // of transmission
	rxRings []iflib.QueueMem
	n       atomic.Int64 // of whatever the fault counts
	busy    atomic.Int32 // calls that a fault wants to see overlap
	broken  atomic.Bool
}

// faultyPath is the same for the data path.
type faultyPath struct {
	iflib.TxRx
	d *faulty

	encap     func(d *faulty, pi *iflib.PktInfo) error
	flush     func(d *faulty, qid int, value uint32)
	credits   func(d *faulty, qid int, clear bool) int
	available func(d *faulty, qid int, cidx iflib.QIdx, budget int) int
	pktGet    func(d *faulty, ri *iflib.RxdInfo) error
	refill    func(d *faulty, iru *iflib.RxdUpdate)
	legacy    func(d *faulty) iflib.FilterResult
}

func (d *faulty) Unwrap() iflib.Device { return d.Device }

func (d *faulty) AttachPre() error {
	if d.attachPre != nil {
		if err := d.attachPre(d); err != nil {
			return err
		}
	} else if err := d.Device.AttachPre(); err != nil {
		return err
	}
	d.path.TxRx, d.path.d = d.ctx.Softc().TxRx, d
	d.ctx.Softc().TxRx = &d.path
	return nil
}

func (d *faulty) AttachPost() error {
	if d.attachPost != nil {
		return d.attachPost(d)
	}
	return d.Device.AttachPost()
}

func (d *faulty) Detach() error {
	if d.detach != nil {
		return d.detach(d)
	}
	return d.Device.Detach()
}

func (d *faulty) TxQueuesAlloc(rings []iflib.QueueMem, nqs, nsets int) error {
	d.rings = rings
	return d.Device.TxQueuesAlloc(rings, nqs, nsets)
}

func (d *faulty) RxQueuesAlloc(rings []iflib.QueueMem, nqs, nsets int) error {
	d.rxRings = rings
	return d.Device.RxQueuesAlloc(rings, nqs, nsets)
}

func (d *faulty) Init() {
	if d.initialise != nil {
		d.initialise(d)
		return
	}
	d.Device.Init()
}

func (d *faulty) Stop() {
	if d.stop != nil {
		d.stop(d)
		return
	}
	d.Device.Stop()
}

func (d *faulty) MTUSet(mtu int) error {
	if d.mtuSet != nil {
		return d.mtuSet(d, mtu)
	}
	return d.Device.MTUSet(mtu)
}

func (d *faulty) PromiscSet(flags ifnet.Flags) error {
	if d.promiscSet != nil {
		return d.promiscSet(d, flags)
	}
	return d.Device.PromiscSet(flags)
}

func (d *faulty) UpdateAdminStatus() {
	if d.adminStatus != nil {
		d.adminStatus(d)
		return
	}
	d.Device.UpdateAdminStatus()
}

func (d *faulty) GetCounter(c ifnet.Counter) uint64 {
	if d.getCounter != nil {
		return d.getCounter(d, c)
	}
	return d.Device.GetCounter(c)
}

func (d *faulty) Timer(qid int) {
	m, _ := iflib.Method[iflib.Timer](d.Device)
	m.Timer(qid)
	if d.timer != nil {
		d.timer(d, qid)
	}
}

func (d *faulty) VLANRegister(vtag uint16) {
	m, _ := iflib.Method[iflib.VLANRegisterer](d.Device)
	m.VLANRegister(vtag)
}

func (d *faulty) VLANUnregister(vtag uint16) {
	if d.vlanRemove != nil {
		d.vlanRemove(d, vtag)
		return
	}
	m, _ := iflib.Method[iflib.VLANRegisterer](d.Device)
	m.VLANUnregister(vtag)
}

func (p *faultyPath) Unwrap() iflib.TxRx { return p.TxRx }

func (p *faultyPath) TxdEncap(pi *iflib.PktInfo) error {
	if p.encap != nil {
		return p.encap(p.d, pi)
	}
	return p.TxRx.TxdEncap(pi)
}

func (p *faultyPath) TxdFlush(qid int, value uint32) {
	if p.flush != nil {
		p.flush(p.d, qid, value)
		return
	}
	p.TxRx.TxdFlush(qid, value)
}

func (p *faultyPath) TxdCreditsUpdate(qid int, clear bool) int {
	if p.credits != nil {
		return p.credits(p.d, qid, clear)
	}
	return p.TxRx.TxdCreditsUpdate(qid, clear)
}

func (p *faultyPath) RxdAvailable(qid int, cidx iflib.QIdx, budget int) int {
	if p.available != nil {
		return p.available(p.d, qid, cidx, budget)
	}
	return p.TxRx.RxdAvailable(qid, cidx, budget)
}

func (p *faultyPath) RxdPktGet(ri *iflib.RxdInfo) error {
	if p.pktGet != nil {
		return p.pktGet(p.d, ri)
	}
	return p.TxRx.RxdPktGet(ri)
}

func (p *faultyPath) LegacyIntr() iflib.FilterResult {
	if p.legacy != nil {
		return p.legacy(p.d)
	}
	m, _ := iflib.Method[iflib.LegacyIntr](p.TxRx)
	return m.LegacyIntr()
}

func (p *faultyPath) RxdRefill(iru *iflib.RxdUpdate) {
	if p.refill != nil {
		p.refill(p.d, iru)
		return
	}
	p.TxRx.RxdRefill(iru)
}

// good is the driver's own data path.
func (d *faulty) good() iflib.TxRx { return d.path.TxRx }

// plant is a device with the fault that set plants into each of its softcs.
func plant(good func() Device, set func(d *faulty)) func() Device {
	return func() Device {
		dev := good()
		drv := *dev.Driver
		inner := drv.New
		drv.New = func(ctx *iflib.Ctx) iflib.Device {
			d := &faulty{Device: inner(ctx), ctx: ctx}
			set(d)
			return d
		}
		dev.Driver = &drv
		return dev
	}
}
