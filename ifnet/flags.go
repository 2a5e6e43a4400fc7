package ifnet

// Flags are the interface flags of if_flags and if_drv_flags; the two sets of
// bits are disjoint (spec ifnet 6.2, FreeBSD net/if.h).
type Flags uint32

// Interface flags. The comment names the owner: i is set by the driver before
// attach and then constant, n belongs to the stack, d to the driver.
const (
	FlagUp           Flags = 0x1      // IFF_UP, n
	FlagBroadcast    Flags = 0x2      // IFF_BROADCAST, i
	FlagDebug        Flags = 0x4      // IFF_DEBUG, n
	FlagLoopback     Flags = 0x8      // IFF_LOOPBACK, i
	FlagPointToPoint Flags = 0x10     // IFF_POINTOPOINT, i
	FlagNeedsEpoch   Flags = 0x20     // IFF_NEEDSEPOCH, i
	FlagRunning      Flags = 0x40     // IFF_DRV_RUNNING, d
	FlagNoARP        Flags = 0x80     // IFF_NOARP, n
	FlagPromisc      Flags = 0x100    // IFF_PROMISC, n
	FlagAllMulti     Flags = 0x200    // IFF_ALLMULTI, n
	FlagOActive      Flags = 0x400    // IFF_DRV_OACTIVE, d
	FlagSimplex      Flags = 0x800    // IFF_SIMPLEX, i
	FlagLink0        Flags = 0x1000   // IFF_LINK0, n
	FlagLink1        Flags = 0x2000   // IFF_LINK1, n
	FlagLink2        Flags = 0x4000   // IFF_LINK2, n
	FlagMulticast    Flags = 0x8000   // IFF_MULTICAST, i
	FlagCantConfig   Flags = 0x10000  // IFF_CANTCONFIG, i
	FlagPPromisc     Flags = 0x20000  // IFF_PPROMISC, n
	FlagMonitor      Flags = 0x40000  // IFF_MONITOR, n
	FlagStaticARP    Flags = 0x80000  // IFF_STATICARP, n
	FlagStickyARP    Flags = 0x100000 // IFF_STICKYARP, n
	FlagDying        Flags = 0x200000 // IFF_DYING, n
	FlagRenaming     Flags = 0x400000 // IFF_RENAMING, n
	FlagPAllMulti    Flags = 0x800000 // IFF_PALLMULTI, n

	// FlagLowerUp is never stored: reports add it when the operational state
	// is up (IFF_NETLINK_1, printed as LOWER_UP).
	FlagLowerUp Flags = 0x1000000

	// FlagCantChange are the bits SIOCSIFFLAGS may not change (IFF_CANTCHANGE).
	FlagCantChange = FlagBroadcast | FlagPointToPoint | FlagRunning | FlagOActive |
		FlagSimplex | FlagMulticast | FlagAllMulti | FlagPromisc | FlagDying |
		FlagCantConfig | FlagNeedsEpoch
)
