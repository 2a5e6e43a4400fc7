package sysctl

// Kind is the type of an OID, the low four bits of FreeBSD's oid_kind (CTLTYPE_*, spec ifnet 1.2).
type Kind uint8

// The kinds, with FreeBSD's values.
const (
	KindNode   Kind = 1   // children, or a handler of its own
	KindInt    Kind = 2   // 32 bit, signed
	KindString Kind = 3   // bytes, a NUL at the end
	KindS64    Kind = 4   // 64 bit, signed
	KindOpaque Kind = 5   // bytes described by the format
	KindUint   Kind = 6   // 32 bit, unsigned
	KindLong   Kind = 7   // 64 bit, signed (LP64)
	KindUlong  Kind = 8   // 64 bit, unsigned (LP64)
	KindU64    Kind = 9   // 64 bit, unsigned
	KindU8     Kind = 0xa // 8 bit, unsigned; also BOOL
	KindU16    Kind = 0xb // 16 bit, unsigned
	KindS8     Kind = 0xc // 8 bit, signed
	KindS16    Kind = 0xd // 16 bit, signed
	KindS32    Kind = 0xe // 32 bit, signed
	KindU32    Kind = 0xf // 32 bit, unsigned
)

// kindMask selects the kind in the 32-bit word that {0,4} hands out (CTLTYPE).
const kindMask = 0xf

// kindInfo is one row of the table of spec ifnet 1.2.
type kindInfo struct {
	size   int    // bytes of one element, 0 when it is not a number
	signed bool   // how it prints and parses
	text   string // what sysctl -t prints
	format string // the format of the plain flavour
}

var kinds = [16]kindInfo{
	KindNode:   {0, false, "node", "N"},
	KindInt:    {4, true, "integer", "I"},
	KindString: {0, false, "string", "A"},
	KindS64:    {8, true, "int64_t", "Q"},
	KindOpaque: {0, false, "opaque", ""},
	KindUint:   {4, false, "unsigned integer", "IU"},
	KindLong:   {8, true, "long integer", "L"},
	KindUlong:  {8, false, "unsigned long", "LU"},
	KindU64:    {8, false, "uint64_t", "QU"},
	KindU8:     {1, false, "uint8_t", "CU"},
	KindU16:    {2, false, "uint16_t", "SU"},
	KindS8:     {1, true, "int8_t", "C"},
	KindS16:    {2, true, "int16_t", "S"},
	KindS32:    {4, true, "int32_t", "I"},
	KindU32:    {4, false, "uint32_t", "IU"},
}

// Size reports the bytes of one element of a number, 0 for nodes, strings and opaques.
func (k Kind) Size() int { return kinds[k&kindMask].size }

// Signed reports whether values of the kind print and parse as signed numbers.
func (k Kind) Signed() bool { return kinds[k&kindMask].signed }

// String is the text sysctl -t prints, "unknown" for values FreeBSD does not define.
func (k Kind) String() string {
	if text := kinds[k&kindMask].text; text != "" {
		return text
	}
	return "unknown"
}

// Flag is the upper part of FreeBSD's oid_kind (CTLFLAG_*, spec ifnet 1.3).
type Flag uint32

// The flags, with FreeBSD's values.
const (
	RD        Flag = 0x80000000 // readable; informative, reads are never refused for lacking it
	WR        Flag = 0x40000000 // writable; without it a write is EPERM
	RW             = RD | WR
	Dormant   Flag = 0x20000000 // leaf of a module that is still loading: ENOENT by number, not walked
	AnyBody   Flag = 0x10000000 // unprivileged callers may write
	Secure    Flag = 0x08000000 // not writable when the secure level exceeds the level in SecureMask
	Prison    Flag = 0x04000000 // root of a jail may write
	Dyn       Flag = 0x02000000 // created at run time; set by the adders
	Skip      Flag = 0x01000000 // left out of listings
	TUN       Flag = 0x00080000 // initial value from the kernel environment
	RDTUN          = RD | TUN
	RWTUN          = RW | TUN
	MPSafe    Flag = 0x00040000 // the handler runs without the tree's one Giant lock
	VNet      Flag = 0x00020000 // one value per network stack; follows later changes of the environment
	Dying     Flag = 0x00010000 // being removed; internal
	CapRD     Flag = 0x00008000 // readable in capability mode
	CapWR     Flag = 0x00004000 // writable in capability mode
	CapRW          = CapRD | CapWR
	Stats     Flag = 0x00002000 // a statistic: hidden by sysctl -W
	NoFetch   Flag = 0x00001000 // not fetched from the environment at registration
	NeedGiant Flag = 0x00000800 // the handler is serialised, as without MPSafe

	SecureMask  Flag = 0x00F00000 // the level of Secure
	secureShift      = 20
	Secure1          = Secure              // refuse when the secure level is above 0
	Secure2          = Secure | 0x00100000 // above 1
	Secure3          = Secure | 0x00200000 // above 2
)
