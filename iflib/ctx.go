package iflib

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// ctxFlags are ifc_flags (spec iflib 1.5), guarded by the state lock.
type ctxFlags uint32

const (
	ctxLegacy      ctxFlags = 0x001 // IFC_LEGACY: one shared interrupt, legacy or MSI
	ctxQFlush      ctxFlags = 0x002 // IFC_QFLUSH: drain frees instead of sending
	ctxMultiSeg    ctxFlags = 0x004 // IFC_MULTISEG: MTU above the largest free list buffer
	ctxInitFailed  ctxFlags = 0x008 // IFC_INIT_FAILED
	ctxInitDone    ctxFlags = 0x020 // IFC_INIT_DONE: attach finished
	ctxPrefetch    ctxFlags = 0x040 // IFC_PREFETCH: 10 Gbit/s and more was reported
	ctxDoReset     ctxFlags = 0x080 // IFC_DO_RESET
	ctxDoWatchdog  ctxFlags = 0x100 // IFC_DO_WATCHDOG
	ctxDoResetIfUp ctxFlags = 0x200 // IFC_DO_RESET_IF_UP
	ctxInDetach    ctxFlags = 0x800 // IFC_IN_DETACH
)

// Ctx is one attached device as the framework sees it (struct iflib_ctx, spec
// iflib 1.5).
type Ctx struct {
	k    *kern.Kernel
	g    *globals // net.iflib of this machine
	drv  *Driver
	fn   *pci.Function
	unit int
	name string // "em0"
	dev  Device
	ifp  *ifnet.Ifnet

	sctx  *SharedCtx
	scctx SoftcCtx
	txrx  TxRx // copied after AttachPre

	// admit is the data path's view of the interface: one load answers
	// whether a packet may go out. Written under the state lock.
	admit atomic.Uint32

	ctxLock   kern.Sx  // CTX: configuration, init and stop, most device methods
	stateLock kern.Mtx // STATE: flags, and changes of RUNNING and OACTIVE
	flags     atomic.Uint32

	txqs []*Txq
	rxqs []*Rxq

	ifFlags    ifnet.Flags // ifc_if_flags: seen at the last SIOCSIFFLAGS; ctx lock
	maxFLBuf   int         // ifc_max_fl_buf_size; ctx lock
	rxMbufSize int         // ifc_rx_mbuf_sz; ctx lock
	linkState  atomic.Uint32
	media      *ifnet.Media
	mac        [6]byte
	events     []func() // deregistrations of event handlers, run by detach in reverse

	adminq    *kern.TaskQueue
	adminTask *kern.Task
	ledTask   *kern.Task
	vflrTask  *kern.Task

	cpus          kern.CPUSet // interrupt CPUs of the bus
	cpusPhysical  bool        // ifc_cpus_are_physical_cores
	coreOffsetRef bool        // ifc_core_offset_ref: a record of the offset list is held

	txTag, tsoTag *busdma.Tag
	rxTag         *busdma.Tag

	oids      *sysctl.Ctx // sysctls of the device's iflib node
	devNode   *sysctl.OID // dev.<driver>.<unit>
	iflibNode *sysctl.OID // dev.<driver>.<unit>.iflib
	knobs     knobs

	txWatchdogEvents atomic.Uint32 // ifc_tx_watchdog_events

	simple bool // simple_tx was chosen at attach

	snd       *altq.Queue  // the interface's send queue
	sndStarts atomic.Int32 // calls of startALTQ that the present one has to serve

	// txqSelect is the driver's choice of the transmit queue, nil without one;
	// with selectParsed it wants the headers parsed (ift_txq_select_v2).
	txqSelect    func(m *mbuf.Mbuf, pi *PktInfo) int
	selectParsed bool
	selectors    selectorPool

	txIntr TxQueueIntrEnabler // nil without the method
	rxIntr RxQueueIntrEnabler

	rxRings     []ringMem     // memory of the receive sets
	irqs        []*Irq        // every interrupt set up, by the goroutine of attach and detach
	msixMapped  int           // ifc_msix_mem: register of the BAR mapped for MSI-X, 0 without
	brokenRules sync.Map      // rules of the driver contract whose breach was logged: format to struct{}
	brokenCount atomic.Uint64 // breaches of the driver contract

	// pfil is where packet filters see received packets before the stack does
	// (ifc_pfil); the link head of ether_input is another one.
	pfil ifnet.PfilHead

	devOIDs     *sysctl.Ctx // the device's own leaves below dev.<driver>.<unit>
	ifsimNode   *sysctl.OID // dev.<driver>.<unit>.ifsim
	simpleTxSet bool        // the environment has a simple_tx of this device
	ledState    atomic.Bool // ifc_led_state

	sight sight
}

// admit bits.
const (
	admitRunning uint32 = 1 << iota // IFF_DRV_RUNNING and traffic admitted
	admitLinkUp                     // link state is up
	admitOActive                    // IFF_DRV_OACTIVE

	admitTx = admitRunning | admitLinkUp
)

// txAdmitted reports whether a sender's packet may enter a queue.
func (ctx *Ctx) txAdmitted() bool { return ctx.admit.Load()&admitTx == admitTx }

// knobs are the sysctls of dev.<driver>.<unit>.iflib (spec iflib 5.2). All are
// read by atomic load at any time; those marked attach matter only there.
type knobs struct {
	simpleTx        atomic.Bool   // attach
	overrideNTxQs   atomic.Uint32 // attach
	overrideNRxQs   atomic.Uint32 // attach
	overrideQsEn    atomic.Uint32 // attach
	disableMSIX     atomic.Int32  // attach
	rxBudget        atomic.Uint32
	txAbdicate      atomic.Uint32
	coreOffset      atomic.Uint32 // attach, then the resolved value
	separateTxRx    atomic.Uint32 // attach
	useLogicalCores atomic.Uint32 // attach
	extraMSIX       atomic.Uint32 // attach
	allocatedMSIX   atomic.Int32

	overrideNTxds [MaxQueuesPerSet]atomic.Uint32 // attach
	overrideNRxds [MaxQueuesPerSet]atomic.Uint32 // attach

	txReclaimThresh atomic.Int32
	txReclaimTicks  atomic.Int32
	txDeferMfree    atomic.Bool
}
