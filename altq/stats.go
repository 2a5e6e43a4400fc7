package altq

// ClassStats is the state of one queue, what pfctl -s queue -v prints and more
// (class_stats of each discipline, spec altq 2 and 5).
type ClassStats struct {
	QID    QID     `json:"qid"`
	QLen   int     `json:"qlength"` // packets
	QLimit int     `json:"qlimit"`  // packets
	QType  QType   `json:"qtype"`
	Xmit   Counter `json:"xmit"` // removed to be sent
	// Drop is what was dropped; CoDel's drops at the interface are in it.
	Drop Counter `json:"drop"`
	// Period is how often the queue became busy (priq, hfsc).
	Period uint32 `json:"period"`
	// RED has one entry with RED, three with RIO, none otherwise.
	RED   []REDStats  `json:"red,omitempty"`
	CoDel *CoDelStats `json:"codel,omitempty"`
	CBQ   *CBQStats   `json:"cbq,omitempty"`
	HFSC  *HFSCStats  `json:"hfsc,omitempty"`
}

// REDStats is the state of RED, or of one of RIO's three (struct redstats).
type REDStats struct {
	QAvg         int64   `json:"q_avg"` // average queue x 4096
	Xmit         Counter `json:"xmit"`
	Drop         Counter `json:"drop"`
	DropForced   uint64  `json:"drop_forced"`   // packets
	DropUnforced uint64  `json:"drop_unforced"` // packets
	Marked       uint64  `json:"marked"`        // packets marked instead
}

// CoDelStats is the state of CoDel (struct codel_stats).
type CoDelStats struct {
	MaxPacket int     `json:"maxpacket"` // largest packet seen, bytes
	Drop      Counter `json:"drop"`      // by the control law
	Marked    uint64  `json:"marked"`    // always 0: ECN never acts
}

// CBQStats is what only CBQ has (class_stats_t of altq_cbq.h).
type CBQStats struct {
	Depth       int    `json:"depth"`       // 0 for a leaf
	Priority    int    `json:"priority"`    // 0 to 7
	Over        uint64 `json:"over"`        // times the class was found over its limit
	Borrows     uint64 `json:"borrows"`     // packets sent on an ancestor's share
	Overactions uint64 `json:"overactions"` // times it was not allowed to send
	Delays      uint64 `json:"delays"`      // times it was suspended
	MaxIdle     int64  `json:"maxidle"`     // us x 32
	MinIdle     int64  `json:"minidle"`     // us x 32
	AvgIdle     int64  `json:"avgidle"`     // us x 32
	OffTime     int64  `json:"offtime"`     // us
	NsPerByte   int64  `json:"ns_per_byte"`
	WRRAllot    int64  `json:"wrr_allot"` // bytes a round
}

// HFSCStats is what only HFSC has (struct hfsc_classstats_v1). Times are Time units,
// work is in bytes, rates in bits a second as the internal slopes round them.
type HFSCStats struct {
	RealTime     Curve  `json:"rsc"`
	LinkShare    Curve  `json:"fsc"`
	UpperLimit   Curve  `json:"usc"`
	Total        uint64 `json:"total"`
	Cumul        uint64 `json:"cumul"`
	D            uint64 `json:"d"`
	E            uint64 `json:"e"`
	VT           uint64 `json:"vt"`
	F            uint64 `json:"f"`
	InitVT       uint64 `json:"initvt"`
	VTOff        uint64 `json:"vtoff"`
	CVTMax       uint64 `json:"cvtmax"`
	MyF          uint64 `json:"myf"`
	CFMin        uint64 `json:"cfmin"`
	CVTMin       uint64 `json:"cvtmin"`
	MyFAdj       uint64 `json:"myfadj"`
	VTAdj        uint64 `json:"vtadj"`
	CurTime      uint64 `json:"cur_time"`
	VTPeriod     uint32 `json:"vtperiod"`
	ParentPeriod uint32 `json:"parentperiod"`
	NActive      int    `json:"nactive"`
}
