package iflib

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// deviceClasses owns the nodes dev.<driver>. A class keeps its node for the
// life of the machine; devices come and go below it.
type deviceClasses struct {
	tree *sysctl.Tree

	mu    sync.Mutex
	ctx   *sysctl.Ctx
	nodes map[string]*sysctl.OID
}

func (d *deviceClasses) init(k *kern.Kernel) {
	d.tree = k.Sysctl
	d.ctx = d.tree.NewCtx()
	d.nodes = map[string]*sysctl.OID{}
}

// node returns dev.<driver>, making it with its leaf the first time.
func (d *deviceClasses) node(driver string) *sysctl.OID {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.nodes[driver]; n != nil {
		return n
	}
	n := d.ctx.Node(d.tree.Dev(), driver, sysctl.RD, "")
	d.ctx.ConstString(n, "%parent", sysctl.RD, "", "parent class")
	d.nodes[driver] = n
	return n
}

// addDeviceNode makes dev.<driver>.<unit> with the leaves that every device has
// (device_sysctl_init, spec ifnet 3), then the node of what FreeBSD does not
// have. Listings show them in reverse.
func (ctx *Ctx) addDeviceNode(desc string) {
	ctx.devOIDs = ctx.k.Sysctl.NewCtx()
	c := ctx.devOIDs
	n := c.Add(ctx.g.classes.node(ctx.drv.Name), sysctl.Spec{Name: strconv.Itoa(ctx.unit), Kind: sysctl.KindNode,
		Flags: sysctl.RD, Label: "device_index"})
	ctx.devNode = n
	c.ConstString(n, "%desc", sysctl.RD, desc, "device description")
	c.ConstString(n, "%driver", sysctl.RD, ctx.drv.Name, "device driver name")
	c.ConstString(n, "%location", sysctl.RD, ctx.fn.LocationText(), "device location relative to parent")
	c.ConstString(n, "%pnpinfo", sysctl.RD, ctx.fn.PnpInfo(), "device identification")
	c.ConstString(n, "%parent", sysctl.RD, fmt.Sprintf("pci%d", ctx.fn.Location().Bus), "parent device")
	c.ConstString(n, "%iommu", sysctl.RD, "", "iommu unit handling the device requests")
}

// freeDeviceNode removes dev.<driver>.<unit> with all that the driver added.
func (ctx *Ctx) freeDeviceNode() {
	if ctx.devOIDs == nil {
		return
	}
	if err := ctx.devOIDs.Free(); err != nil {
		ctx.printf("removing sysctls: %v\n", err)
	}
	ctx.devOIDs, ctx.devNode = nil, nil
}

// addSysctlsPre registers what exists before AttachPre (iflib_add_device_sysctl_pre,
// spec iflib 5.2). Loader tunables are read here, in the order of registration.
func (ctx *Ctx) addSysctlsPre() {
	ctx.oids = ctx.k.Sysctl.NewCtx()
	k := &ctx.knobs
	k.coreOffset.Store(coreOffsetUnspecified)
	c := ctx.oids
	n := c.Node(ctx.devNode, "iflib", sysctl.RD|sysctl.MPSafe, "IFLIB fields")
	ctx.iflibNode = n
	c.ConstString(n, "driver_version", sysctl.RD, ctx.sctx.Version, "driver version")
	c.U32(n, "tx_watchdog_events", sysctl.RD, &ctx.txWatchdogEvents, "resets started by the transmit watchdog")
	c.Proc(n, "simple_tx", sysctl.RDTUN|sysctl.MPSafe, sysctl.KindU8, "", ctx.simpleTxHandler, "use simple tx ring")
	c.U16(n, "override_ntxqs", sysctl.RWTUN, &k.overrideNTxQs, "# of txqs to use, 0 => use default #")
	c.U16(n, "override_nrxqs", sysctl.RWTUN, &k.overrideNRxQs, "# of rxqs to use, 0 => use default #")
	c.U16(n, "override_qs_enable", sysctl.RWTUN, &k.overrideQsEn, "permit #txq != #rxq")
	c.Int(n, "disable_msix", sysctl.RWTUN, &k.disableMSIX, "disable MSI-X (default 0)")
	c.U16(n, "rx_budget", sysctl.RWTUN, &k.rxBudget, "set the RX budget")
	c.U16(n, "tx_abdicate", sysctl.RWTUN, &k.txAbdicate, "cause TX to abdicate instead of running to completion")
	c.U16(n, "core_offset", sysctl.RDTUN, &k.coreOffset, "offset to start using cores at")
	c.U8(n, "separate_txrx", sysctl.RDTUN, &k.separateTxRx, "use separate cores for TX and RX")
	c.U8(n, "use_logical_cores", sysctl.RDTUN, &k.useLogicalCores, "try to make use of logical cores for TX and RX")
	c.U16(n, "use_extra_msix_vectors", sysctl.RDTUN, &k.extraMSIX,
		"attempt to reserve the given number of extra MSI-X vectors during driver load for the creation of additional interfaces later")
	c.Int(n, "allocated_msix_vectors", sysctl.RDTUN, &k.allocatedMSIX, "total # of MSI-X vectors allocated by driver")
	c.Proc(n, "override_ntxds", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindString, "",
		descsHandler(k.overrideNTxds[:], ctx.sctx.NTxQs), "list of # of TX descriptors to use, 0 = use default #")
	c.Proc(n, "override_nrxds", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindString, "",
		descsHandler(k.overrideNRxds[:], ctx.sctx.NRxQs), "list of # of RX descriptors to use, 0 = use default #")
}

// simpleTxHandler shows whether simple_tx is in use, which it is not while the
// send queue shapes. Only the loader sets it: a value in the environment
// decides, whatever prefer_mpring says.
func (ctx *Ctx) simpleTxHandler(req *sysctl.Request) error {
	val, written, err := req.HandleInt(boolInt(ctx.knobs.simpleTx.Load() && !ctx.ifp.Snd().Enabled()))
	if err == nil && written {
		ctx.knobs.simpleTx.Store(val != 0)
		ctx.simpleTxSet = true
	}
	return err
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// chooseTransmit decides between the mp_ring and simple_tx and says so on the
// console (spec iflib 2.2 step 4). An interface whose send queue shapes keeps
// the mp_ring: the discipline sits in front of it.
func (ctx *Ctx) chooseTransmit() {
	simple := ctx.knobs.simpleTx.Load()
	if !ctx.simpleTxSet {
		simple = ctx.g.preferMPRing.Load() == 0
	}
	switch {
	case simple && ctx.ifp.Snd().Enabled():
		ctx.printf("ALTQ prevents using simple if_transmit\n")
		simple = false
	case simple:
		ctx.printf("using simple if_transmit\n")
	}
	ctx.simple = simple
	ctx.knobs.simpleTx.Store(simple)
}

// Text limits of the descriptor count lists.
const (
	descsBuf    = 256 // longest text with its NUL
	descsTokens = MaxQueuesPerSet
)

// descsHandler serves a list of ring sizes (mp_ndesc_handler). Reading shows
// the nqs rings of a set; a write replaces the positions that it has and is
// never refused: sizes are checked at attach.
func descsHandler(sizes []atomic.Uint32, nqs int) sysctl.Handler {
	return func(req *sysctl.Request) error {
		var b strings.Builder
		for i := range nqs {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatUint(uint64(sizes[i].Load()), 10))
		}
		text, written, err := req.HandleString(b.String(), descsBuf)
		if err != nil || !written {
			return err
		}
		for i, n := range parseDescs(text) {
			sizes[i].Store(uint32(n))
		}
		return nil
	}
}

// parseDescs splits a list at each space and comma, so that two in a row hold
// an empty token, and reads at most as many tokens as a set has rings.
func parseDescs(text string) []uint16 {
	var list []uint16
	for len(list) < descsTokens {
		i := strings.IndexAny(text, " ,")
		if i < 0 {
			return append(list, uint16(leadingNumber(text)))
		}
		list = append(list, uint16(leadingNumber(text[:i])))
		text = text[i+1:]
	}
	return list
}

// leadingNumber is strtoul(3) in base 10: blanks, a sign, digits; what follows
// is ignored, 0 without a digit, the largest number on overflow.
func leadingNumber(s string) uint64 {
	s = strings.TrimLeft(s, "\t\n\v\f\r ")
	neg := strings.HasPrefix(s, "-")
	if neg || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		s = s[:end]
	}
	n, err := strconv.ParseUint(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return n // the largest number, whatever the sign
	case neg:
		return -n
	}
	return n
}

// addSysctlsPost registers what needs the queues: the reclaim knobs, the queue
// nodes, the simulator's own node (iflib_add_device_sysctl_post, spec iflib 5.2
// to 5.4).
func (ctx *Ctx) addSysctlsPost() {
	c, n := ctx.oids, ctx.iflibNode
	const flags = sysctl.RWTUN | sysctl.MPSafe
	c.Proc(n, "tx_reclaim_thresh", flags, sysctl.KindInt, "", ctx.reclaimThreshHandler,
		"Number of TX descs outstanding before reclaim is called")
	c.Proc(n, "tx_reclaim_ticks", flags, sysctl.KindInt, "", ctx.reclaimTicksHandler,
		"Number of ticks before a TX reclaim is forced")
	c.Proc(n, "tx_defer_mfree", flags, sysctl.KindInt, "", ctx.deferMfreeHandler,
		"Free completed transmits outside of TX ring lock")
	for _, q := range ctx.txqs {
		q.addSysctls(c, n)
	}
	for _, rxq := range ctx.rxqs {
		rxq.addSysctls(c, n)
	}
	ctx.addOwnSysctls()
}

// freeSysctls removes what iflib added; nothing runs on it afterwards.
func (ctx *Ctx) freeSysctls() {
	if ctx.oids == nil {
		return
	}
	if err := ctx.oids.Free(); err != nil {
		ctx.printf("removing sysctls: %v\n", err)
	}
	ctx.oids, ctx.iflibNode = nil, nil
}

// handleBounded serves a number that must not be negative nor above limit; text
// is the console's complaint. ok reports that there is a new value to apply.
func (ctx *Ctx) handleBounded(req *sysctl.Request, cur, limit int32, text string) (val int32, ok bool, err error) {
	v, written, err := req.HandleInt(int64(cur))
	if err != nil || !written || v == int64(cur) {
		return cur, false, err
	}
	if v < 0 {
		return cur, false, fmt.Errorf("%s %d: %w", req.OID().Name(), v, syscall.EINVAL)
	}
	if v > int64(limit) {
		ctx.printf(text, limit)
		return cur, false, fmt.Errorf("%s %d above %d: %w", req.OID().Name(), v, limit, syscall.EINVAL)
	}
	return int32(v), true, nil
}

// reclaimThreshHandler bounds the threshold by half the first ring of the set,
// with FlagHasTxCQ the completion ring (iflib_handle_tx_reclaim_thresh).
func (ctx *Ctx) reclaimThreshHandler(req *sysctl.Request) error {
	v, ok, err := ctx.handleBounded(req, ctx.knobs.txReclaimThresh.Load(), int32(ctx.scctx.NTxd[0]/2),
		"TX Reclaim thresh must be <= %d\n")
	if !ok {
		return err
	}
	ctx.knobs.txReclaimThresh.Store(v)
	for _, q := range ctx.txqs {
		q.reclaimThresh.Store(uint32(v))
	}
	return nil
}

// reclaimTicksHandler bounds the ticks by one second
// (iflib_handle_tx_reclaim_ticks).
func (ctx *Ctx) reclaimTicksHandler(req *sysctl.Request) error {
	v, ok, err := ctx.handleBounded(req, ctx.knobs.txReclaimTicks.Load(), int32(ctx.k.Hz()),
		"TX Reclaim ticks must be <= hz (%d)\n")
	if !ok {
		return err
	}
	ctx.knobs.txReclaimTicks.Store(v)
	for _, q := range ctx.txqs {
		q.reclaimTicks.Store(uint32(v))
	}
	return nil
}

// deferMfreeHandler takes any number as a truth value
// (iflib_handle_tx_defer_mfree; FreeBSD's queues keep one bit of it).
func (ctx *Ctx) deferMfreeHandler(req *sysctl.Request) error {
	val, written, err := req.HandleInt(boolInt(ctx.knobs.txDeferMfree.Load()))
	if err != nil || !written {
		return err
	}
	ctx.knobs.txDeferMfree.Store(val != 0)
	for _, q := range ctx.txqs {
		q.deferMfree.Store(val != 0)
	}
	return nil
}
