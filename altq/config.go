package altq

// Config is an interface as a discipline takes it (the altq line of pf.conf).
type Config struct {
	// Bandwidth of the interface in bits a second, as configured.
	Bandwidth uint64
	// MTU in bytes; 0 is 1500.
	MTU int
	// QLimit in packets, where the discipline has a queue of its own (CoDel); 0 is 50.
	QLimit int
	// Seed of the random numbers that RED and RIO drop by.
	Seed uint64
	// Target and Interval of CoDel in ms; 0 is 5 and 100.
	Target, Interval int
}

// defaultMTU is the MTU of an interface of which nothing is known.
const defaultMTU = 1500

// MTUOrDefault is the MTU in bytes.
func (c Config) MTUOrDefault() int {
	if c.MTU <= 0 {
		return defaultMTU
	}
	return c.MTU
}

// QueueConfig is one queue line (struct pf_altq). A discipline reads what it knows.
type QueueConfig struct {
	// QID is the queue's number, not 0.
	QID QID
	// Parent is its parent's number, 0 for none (cbq, hfsc).
	Parent QID
	// Priority: 0 to 15 in priq, 0 to 7 in cbq and fairq; the higher goes first.
	Priority int
	// QLimit in packets; 0 is 50.
	QLimit int
	// Flags are the options.
	Flags Flags
	// Bandwidth in bits a second (cbq, fairq, hfsc's default link share).
	Bandwidth uint64
	// RealTime, LinkShare and UpperLimit are hfsc's curves; the zero value is none.
	RealTime, LinkShare, UpperLimit Curve
	// Buckets of fairq, 0 for 256, and the rate in bits a second below which a flow is
	// no hog, 0 for none.
	Buckets int
	Hogs    uint64
}

// DefaultQLimit is the limit of a queue in packets that has none.
const DefaultQLimit = 50

// QLimitOrDefault is the limit of a queue in packets.
func QLimitOrDefault(n int) int {
	if n <= 0 {
		return DefaultQLimit
	}
	return n
}

// Curve is a service curve in two pieces (struct service_curve): M1 for D
// milliseconds, then M2, in bits a second. M1 = M2 = 0 is no curve.
type Curve struct {
	M1 uint64 `json:"m1"`
	D  uint32 `json:"d"`
	M2 uint64 `json:"m2"`
}

// IsZero reports whether there is no curve.
func (c Curve) IsZero() bool { return c.M1 == 0 && c.M2 == 0 }
