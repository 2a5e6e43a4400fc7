package iflib

import (
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/physmem"
)

// Driver is what a driver registers with a machine: its name, its shared
// context and the constructor of its softc.
type Driver struct {
	Name   string // "em"; interfaces are named Name plus unit
	Shared *SharedCtx

	// New makes the softc of one device (device softc allocation). It must
	// not touch the hardware: AttachPre does.
	New func(ctx *Ctx) Device
}

// QueueMem is the memory of one descriptor ring (ifdi_*_queues_alloc gets
// arrays of these, set by set).
type QueueMem struct {
	Mem  *physmem.Memory
	Addr physmem.Addr // bus address, aligned to SharedCtx.QAlign
	Size uint64       // bytes
}

// Words64 is the ring as little-endian 64-bit words.
func (q QueueMem) Words64() []uint64 { return q.Mem.Words64(q.Addr, int(q.Size/8)) }

// Device is a driver's softc: the methods that every driver has (ifdi_if.m
// methods without a default, spec iflib 1.11). Unless a comment says otherwise
// they run with the ctx lock held; those called during attach also hold the
// IFNET write lock. Methods with a default in FreeBSD are the optional
// interfaces below.
type Device interface {
	AttachPre() error  // IFDI_ATTACH_PRE: fill the softc ctx, map BARs, read the MAC
	AttachPost() error // IFDI_ATTACH_POST: after ether_ifattach
	Detach() error     // IFDI_DETACH; also after a failed attach whose AttachPre succeeded

	TxQueuesAlloc(rings []QueueMem, ntxqs, ntxqsets int) error // IFDI_TX_QUEUES_ALLOC; rings are set-major
	RxQueuesAlloc(rings []QueueMem, nrxqs, nrxqsets int) error // IFDI_RX_QUEUES_ALLOC
	QueuesFree()                                               // IFDI_QUEUES_FREE

	Init() // IFDI_INIT: program the hardware; must not change driver flags
	Stop() // IFDI_STOP

	MSIXIntrAssign(msix int) error // IFDI_MSIX_INTR_ASSIGN: more than one vector was obtained
	IntrEnable()                   // IFDI_INTR_ENABLE; without the ctx lock after a task in legacy mode
	IntrDisable()                  // IFDI_INTR_DISABLE

	MultiSet()                          // IFDI_MULTI_SET: rebuild the multicast filter
	MTUSet(mtu int) error               // IFDI_MTU_SET
	MediaStatus(req *ifnet.MediaReq)    // IFDI_MEDIA_STATUS
	MediaChange() error                 // IFDI_MEDIA_CHANGE: success leads to stop and init
	PromiscSet(flags ifnet.Flags) error // IFDI_PROMISC_SET; without the ctx lock when called from an ioctl
	UpdateAdminStatus()                 // IFDI_UPDATE_ADMIN_STATUS
	GetCounter(c ifnet.Counter) uint64  // IFDI_GET_COUNTER; any goroutine, no lock
}

// Optional methods. A Device implements those it needs; iflib finds them by
// type assertion, through layers that wrap the Device (Method).
type (
	// QueueSetupper sets up queues once, at attach (IFDI_TXQ_SETUP, IFDI_RXQ_SETUP).
	QueueSetupper interface {
		TxqSetup(qid int) error
		RxqSetup(qid int) error
	}
	// RxQueueIntrEnabler unmasks one receive vector; no lock, any goroutine.
	// Required with more than one vector (IFDI_RX_QUEUE_INTR_ENABLE).
	RxQueueIntrEnabler interface{ RxQueueIntrEnable(qid int) error }
	// TxQueueIntrEnabler unmasks one transmit vector; no lock, any goroutine.
	// Required with more than one vector (IFDI_TX_QUEUE_INTR_ENABLE).
	TxQueueIntrEnabler interface{ TxQueueIntrEnable(qid int) error }
	// LinkIntrEnabler unmasks the admin vector (IFDI_LINK_INTR_ENABLE).
	LinkIntrEnabler interface{ LinkIntrEnable() }
	// AdminCompleter handles the admin queue, with FlagHasAdminCQ (IFDI_ADMIN_COMPLETION_HANDLE).
	AdminCompleter interface{ AdminCompletionHandle() }
	// PowerManager hears of bus events (IFDI_SUSPEND, IFDI_SHUTDOWN, IFDI_RESUME).
	PowerManager interface {
		Suspend() error
		Shutdown() error
		Resume() error
	}
	// MediaSetter runs before a media change (IFDI_MEDIA_SET).
	MediaSetter interface{ MediaSet() }
	// Timer runs once per period and queue with the queue mutex held (IFDI_TIMER).
	Timer interface{ Timer(qid int) }
	// WatchdogResetter hears of a hung queue before the reset (IFDI_WATCHDOG_RESET).
	WatchdogResetter interface{ WatchdogReset() }
	// VLANRegisterer maintains the hardware VLAN filter (IFDI_VLAN_REGISTER, IFDI_VLAN_UNREGISTER).
	VLANRegisterer interface {
		VLANRegister(vtag uint16)
		VLANUnregister(vtag uint16)
	}
	// Restarter tells which events need stop and init (IFDI_NEEDS_RESTART; false without it).
	Restarter interface{ NeedsRestart(ev RestartEvent) bool }
	// IntDelayer handles the delay sysctls (IFDI_SYSCTL_INT_DELAY).
	IntDelayer interface {
		SysctlIntDelay(info *IntDelayInfo) error
	}
	// LEDer drives the identification LED (IFDI_LED_FUNC).
	LEDer interface{ LEDFunc(on bool) }
	// PrivIoctler serves SIOCGPRIVATE_0 and the driver-specific requests (IFDI_PRIV_IOCTL).
	PrivIoctler interface {
		PrivIoctl(cmd ifnet.Ioctl, data any) error
	}
	// I2CRequester reads transceiver modules, without a lock (IFDI_I2C_REQ).
	I2CRequester interface{ I2CReq(req *ifnet.I2CReq) error }
	// RSSer serves the RSS requests (IFDI_RSS_KEY_GET and its relatives).
	RSSer interface {
		RSSKeyGet(k *ifnet.RSSKey) error
		RSSKeySet(k *ifnet.RSSKey) error
		RSSHashGet(h *ifnet.RSSHash) error
		RSSTableGet(t *ifnet.RSSTable) error
		RSSTableSet(t *ifnet.RSSTable) error
	}
	// DownReasoner explains a link that is down (IFDI_GET_DOWNREASON).
	DownReasoner interface{ DownReason() (string, error) }
)

// RestartEvent is what NeedsRestart is asked about (enum iflib_restart_event).
type RestartEvent uint8

// RestartVLANConfig is a change of the VLANs on the interface
// (IFLIB_RESTART_VLAN_CONFIG).
const RestartVLANConfig RestartEvent = 0

// IntDelayInfo ties a delay sysctl to a register (struct if_int_delay_info).
type IntDelayInfo struct {
	Offset uint64 // iidi_offset: register
	Value  int    // iidi_value: microseconds
	New    int    // value asked for; valid when Write is set
	Write  bool   // the request is a write
}
