package ifnet

// Counter names one of the interface counters (ift_counter, IFCOUNTER_*;
// spec ifnet 6.5).
type Counter uint8

// Interface counters, in FreeBSD's numbering.
const (
	CounterIPackets   Counter = iota // IFCOUNTER_IPACKETS
	CounterIErrors                   // IFCOUNTER_IERRORS
	CounterOPackets                  // IFCOUNTER_OPACKETS
	CounterOErrors                   // IFCOUNTER_OERRORS
	CounterCollisions                // IFCOUNTER_COLLISIONS
	CounterIBytes                    // IFCOUNTER_IBYTES
	CounterOBytes                    // IFCOUNTER_OBYTES
	CounterIMcasts                   // IFCOUNTER_IMCASTS
	CounterOMcasts                   // IFCOUNTER_OMCASTS
	CounterIQDrops                   // IFCOUNTER_IQDROPS
	CounterOQDrops                   // IFCOUNTER_OQDROPS
	CounterNoProto                   // IFCOUNTER_NOPROTO

	// NumCounters is the number of counters (IFCOUNTERS).
	NumCounters
)

// LinkState is if_link_state.
type LinkState uint8

// Link states (LINK_STATE_*).
const (
	LinkStateUnknown LinkState = iota
	LinkStateDown
	LinkStateUp
)

// String is the name of the state as the kernel's variable holds it.
func (s LinkState) String() string {
	switch s {
	case LinkStateUp:
		return "UP"
	case LinkStateDown:
		return "DOWN"
	}
	return "UNKNOWN"
}
