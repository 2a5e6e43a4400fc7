package mbuf

// Sizes in bytes (spec ifnet 10.1).
const (
	// MSize is the area of one mbuf, header words of FreeBSD's layout included (MSIZE).
	MSize = 256
	// MLen is the data room of a plain mbuf (MLEN).
	MLen = MSize - headerSize
	// MHLen is the data room of an mbuf with a packet header (MHLEN).
	MHLen = MLen - pktHdrSize
	// MinClSize is the least length for which a cluster is used (MINCLSIZE).
	MinClSize = MHLen + 1
	// MClBytes is the size of a cluster (MCLBYTES).
	MClBytes = 2048
	// MJumPageSize is the size of a page-size jumbo cluster (MJUMPAGESIZE).
	MJumPageSize = 4096
	// MJum9Bytes is the size of a 9 KiB jumbo cluster (MJUM9BYTES).
	MJum9Bytes = 9216
	// MJum16Bytes is the size of a 16 KiB jumbo cluster (MJUM16BYTES).
	MJum16Bytes = 16384

	// MaxLinkHdr is the room kept for a link header (max_linkhdr).
	MaxLinkHdr = 16
	// MaxProtoHdr is the longest protocol header that Pullup gathers at no extra cost (max_protohdr with IPv6).
	MaxProtoHdr = 60
	// MaxHdr is the sum of both (max_hdr).
	MaxHdr = MaxLinkHdr + MaxProtoHdr

	headerSize = 32 // what FreeBSD's struct mbuf takes from the area
	pktHdrSize = 64 // and its packet header
)

// CopyAll as a length means "to the end of the chain" (M_COPYALL).
const CopyAll = 1000000000

// Flags are the 24 bits of m_flags (M_*, spec ifnet 10.1).
type Flags uint32

// Flags of an mbuf. FlagExt and FlagPktHdr decide where its data lies: only this package changes them.
const (
	FlagExt        Flags = 0x1
	FlagPktHdr     Flags = 0x2
	FlagEOR        Flags = 0x4
	FlagRdonly     Flags = 0x8
	FlagBcast      Flags = 0x10
	FlagMcast      Flags = 0x20
	FlagPromisc    Flags = 0x40
	FlagVLANTag    Flags = 0x80
	FlagExtPg      Flags = 0x100
	FlagNoFree     Flags = 0x200
	FlagTstmp      Flags = 0x400
	FlagTstmpHPrec Flags = 0x800
	FlagTstmpLRO   Flags = 0x1000
	FlagProto1     Flags = 0x2000
	FlagProto2     Flags = 0x4000
	FlagProto3     Flags = 0x8000
	FlagProto4     Flags = 0x10000
	FlagProto5     Flags = 0x20000
	FlagProto6     Flags = 0x40000
	FlagProto7     Flags = 0x80000
	FlagProto8     Flags = 0x100000
	FlagProto9     Flags = 0x200000
	FlagProto10    Flags = 0x400000
	FlagProto11    Flags = 0x800000

	// ProtoFlags are those that each protocol uses as it likes (M_PROTOFLAGS).
	ProtoFlags Flags = 0xffe000
	// CopyFlags travel with the packet header (M_COPYFLAGS).
	CopyFlags = FlagPktHdr | FlagEOR | FlagRdonly | FlagBcast | FlagMcast | FlagPromisc | FlagVLANTag |
		FlagTstmp | FlagTstmpHPrec | FlagTstmpLRO | ProtoFlags
)

// Types of an mbuf (MT_*).
const (
	TypeData    uint8 = 1
	TypeSoName  uint8 = 8
	TypeControl uint8 = 14
	TypeOOBData uint8 = 16
)

// ExtType says what external storage is and where it returns to (EXT_*).
type ExtType uint8

// Kinds of external storage (spec ifnet 10.1).
const (
	ExtCluster    ExtType = 1
	ExtSFBuf      ExtType = 2
	ExtJumboP     ExtType = 3
	ExtJumbo9     ExtType = 4
	ExtJumbo16    ExtType = 5
	ExtPacket     ExtType = 6
	ExtMbuf       ExtType = 7
	ExtRxRing     ExtType = 8
	ExtNetDrv     ExtType = 252
	ExtModType    ExtType = 253
	ExtDisposable ExtType = 254
	ExtExtRef     ExtType = 255
)

// CsumFlags are checksum and offload requests and results (CSUM_*, spec ifnet 6.4).
type CsumFlags uint32

// Transmit requests.
const (
	CsumIP          CsumFlags = 0x1
	CsumIPUDP       CsumFlags = 0x2
	CsumIPTCP       CsumFlags = 0x4
	CsumIPSCTP      CsumFlags = 0x8
	CsumIPTSO       CsumFlags = 0x10
	CsumIPISCSI     CsumFlags = 0x20
	CsumInnerIP6UDP CsumFlags = 0x40
	CsumInnerIP6TCP CsumFlags = 0x80
	CsumInnerIP6TSO CsumFlags = 0x100
	CsumIP6UDP      CsumFlags = 0x200
	CsumIP6TCP      CsumFlags = 0x400
	CsumIP6SCTP     CsumFlags = 0x800
	CsumIP6TSO      CsumFlags = 0x1000
	CsumIP6ISCSI    CsumFlags = 0x2000
	CsumInnerIP     CsumFlags = 0x4000
	CsumInnerIPUDP  CsumFlags = 0x8000
	CsumInnerIPTCP  CsumFlags = 0x10000
	CsumInnerIPTSO  CsumFlags = 0x20000
	CsumEncapVXLAN  CsumFlags = 0x40000
	CsumEncapRsvd1  CsumFlags = 0x80000
	// CsumSndTag says that PktHdr.RcvIf holds a *SndTag.
	CsumSndTag CsumFlags = 0x80000000

	// CsumTSO is any segmentation of the outer headers.
	CsumTSO = CsumIPTSO | CsumIP6TSO
	// CsumDelayData is a TCP or UDP checksum over IPv4 left to the hardware.
	CsumDelayData = CsumIPTCP | CsumIPUDP
	// CsumDelayDataIPv6 is the same over IPv6.
	CsumDelayDataIPv6 = CsumIP6TCP | CsumIP6UDP
	// CsumDelayIP is an IPv4 header checksum left to the hardware.
	CsumDelayIP = CsumIP

	// CsumUDP is the old name of CsumIPUDP.
	CsumUDP = CsumIPUDP
	// CsumTCP is the old name of CsumIPTCP.
	CsumTCP = CsumIPTCP
	// CsumUDPIPv6 is the old name of CsumIP6UDP.
	CsumUDPIPv6 = CsumIP6UDP
	// CsumTCPIPv6 is the old name of CsumIP6TCP.
	CsumTCPIPv6 = CsumIP6TCP
)

// Receive results.
const (
	CsumInnerL3Calc  CsumFlags = 0x100000
	CsumInnerL3Valid CsumFlags = 0x200000
	CsumInnerL4Calc  CsumFlags = 0x400000
	CsumInnerL4Valid CsumFlags = 0x800000
	CsumL3Calc       CsumFlags = 0x1000000
	CsumL3Valid      CsumFlags = 0x2000000
	CsumL4Calc       CsumFlags = 0x4000000
	CsumL4Valid      CsumFlags = 0x8000000
	CsumL5Calc       CsumFlags = 0x10000000
	CsumL5Valid      CsumFlags = 0x20000000
	CsumCoalesced    CsumFlags = 0x40000000

	// CsumIPChecked is the old name of CsumL3Calc.
	CsumIPChecked = CsumL3Calc
	// CsumIPValid is the old name of CsumL3Valid.
	CsumIPValid = CsumL3Valid
	// CsumPseudoHdr is the old name of CsumL4Calc.
	CsumPseudoHdr = CsumL4Calc
	// CsumDataValid is the old name of CsumL4Valid.
	CsumDataValid = CsumL4Valid
)

// CsumDataGood is PktHdr.CsumData of a received packet whose TCP or UDP checksum was verified.
const CsumDataGood = 0xffff

// HashType says over what PktHdr.FlowID was computed (M_HASHTYPE_*, spec ifnet 11.1).
type HashType uint8

// Hash types.
const (
	HashNone HashType = 0
	// HashProp marks a value with the quality of a hash (M_HASHTYPE_HASHPROP).
	HashProp HashType = 0x80
	// HashInner marks a value computed on inner headers (M_HASHTYPE_INNER).
	HashInner HashType = 0x40

	HashRSSIPv4      HashType = 0x81
	HashRSSTCPIPv4   HashType = 0x82
	HashRSSIPv6      HashType = 0x83
	HashRSSTCPIPv6   HashType = 0x84
	HashRSSIPv6Ex    HashType = 0x85
	HashRSSTCPIPv6Ex HashType = 0x86
	HashRSSUDPIPv4   HashType = 0x87
	HashRSSUDPIPv6   HashType = 0x89
	HashRSSUDPIPv6Ex HashType = 0x8a
	// HashOpaque keeps a flow in order and says nothing more.
	HashOpaque HashType = 0x3f
	// HashOpaqueHash is opaque with the quality of a hash.
	HashOpaqueHash HashType = 0xbf
)

// IsHash reports whether the value spreads like a hash (M_HASHTYPE_ISHASH).
func (h HashType) IsHash() bool { return h&HashProp != 0 }

// Outer is the type without the inner mark (M_HASHTYPE_GET).
func (h HashType) Outer() HashType { return h &^ HashInner }
