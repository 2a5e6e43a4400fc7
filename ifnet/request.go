package ifnet

import (
	"fmt"
	"net/netip"
)

// Ioctl names a request to an interface (SIOC*, spec ifnet 6.8). The comment of
// each says what type its data has.
type Ioctl uint32

// Requests.
const (
	IoctlGetFlags      Ioctl = iota + 1 // SIOCGIFFLAGS: *Flags
	IoctlSetFlags                       // SIOCSIFFLAGS: Flags; nil for the driver, which reads Ifnet.Flags
	IoctlGetCap                         // SIOCGIFCAP: *CapReq
	IoctlSetCap                         // SIOCSIFCAP: *CapReq, Req valid
	IoctlGetCapNV                       // SIOCGIFCAPNV: *CapReq
	IoctlSetCapNV                       // SIOCSIFCAPNV: *CapReq, Req and Req2 valid
	IoctlGetMTU                         // SIOCGIFMTU: *int
	IoctlSetMTU                         // SIOCSIFMTU: int
	IoctlGetMetric                      // SIOCGIFMETRIC: *int
	IoctlSetMetric                      // SIOCSIFMETRIC: int
	IoctlGetFIB                         // SIOCGIFFIB: *int
	IoctlSetFIB                         // SIOCSIFFIB: int
	IoctlGetIndex                       // SIOCGIFINDEX: *int
	IoctlGetPhys                        // SIOCGIFPHYS: refused by drivers without it
	IoctlSetAddr                        // SIOCSIFADDR: AddrReq
	IoctlSetName                        // SIOCSIFNAME: string
	IoctlGetDescr                       // SIOCGIFDESCR: *string
	IoctlSetDescr                       // SIOCSIFDESCR: string
	IoctlSetLLAddr                      // SIOCSIFLLADDR: []byte
	IoctlAddMulti                       // SIOCADDMULTI: MultiReq; nil for the driver
	IoctlDelMulti                       // SIOCDELMULTI: MultiReq; nil for the driver
	IoctlSetMedia                       // SIOCSIFMEDIA: MediaWord
	IoctlGetMedia                       // SIOCGIFMEDIA: *MediaReq
	IoctlGetXMedia                      // SIOCGIFXMEDIA: *MediaReq
	IoctlGetLANPCP                      // SIOCGLANPCP: *uint8
	IoctlSetLANPCP                      // SIOCSLANPCP: uint8
	IoctlAddGroup                       // SIOCAIFGROUP: string
	IoctlDelGroup                       // SIOCDIFGROUP: string
	IoctlGetGroups                      // SIOCGIFGROUP: *[]string
	IoctlGetStatus                      // SIOCGIFSTATUS: *string
	IoctlGetDownReason                  // SIOCGIFDOWNREASON: *DownReason
	IoctlGetI2C                         // SIOCGI2C: *I2CReq
	IoctlGetI2CPB                       // SIOCGI2CPB: *I2CReq
	IoctlGetRSSKey                      // SIOCGIFRSSKEY: *RSSKey
	IoctlSetRSSKey                      // SIOCSIFRSSKEY: *RSSKey
	IoctlGetRSSHash                     // SIOCGIFRSSHASH: *RSSHash
	IoctlGetRSSTable                    // SIOCGIFRSSTABLE: *RSSTable
	IoctlSetRSSTable                    // SIOCSIFRSSTABLE: *RSSTable
	IoctlGetPrivate0                    // SIOCGPRIVATE_0: *DrvSpec
	IoctlGetPrivate1                    // SIOCGPRIVATE_1: *DrvSpec
	IoctlGetDrvSpec                     // SIOCGDRVSPEC: *DrvSpec
	IoctlSetDrvSpec                     // SIOCSDRVSPEC: *DrvSpec
	IoctlGetVLAN                        // SIOCGETVLAN: *VLANReq
	IoctlSetVLAN                        // SIOCSETVLAN: *VLANReq
	numIoctls
)

var ioctlNames = [numIoctls]string{
	IoctlGetFlags: "SIOCGIFFLAGS", IoctlSetFlags: "SIOCSIFFLAGS",
	IoctlGetCap: "SIOCGIFCAP", IoctlSetCap: "SIOCSIFCAP",
	IoctlGetCapNV: "SIOCGIFCAPNV", IoctlSetCapNV: "SIOCSIFCAPNV",
	IoctlGetMTU: "SIOCGIFMTU", IoctlSetMTU: "SIOCSIFMTU",
	IoctlGetMetric: "SIOCGIFMETRIC", IoctlSetMetric: "SIOCSIFMETRIC",
	IoctlGetFIB: "SIOCGIFFIB", IoctlSetFIB: "SIOCSIFFIB",
	IoctlGetIndex: "SIOCGIFINDEX", IoctlGetPhys: "SIOCGIFPHYS",
	IoctlSetAddr: "SIOCSIFADDR", IoctlSetName: "SIOCSIFNAME",
	IoctlGetDescr: "SIOCGIFDESCR", IoctlSetDescr: "SIOCSIFDESCR",
	IoctlSetLLAddr: "SIOCSIFLLADDR",
	IoctlAddMulti:  "SIOCADDMULTI", IoctlDelMulti: "SIOCDELMULTI",
	IoctlSetMedia: "SIOCSIFMEDIA", IoctlGetMedia: "SIOCGIFMEDIA", IoctlGetXMedia: "SIOCGIFXMEDIA",
	IoctlGetLANPCP: "SIOCGLANPCP", IoctlSetLANPCP: "SIOCSLANPCP",
	IoctlAddGroup: "SIOCAIFGROUP", IoctlDelGroup: "SIOCDIFGROUP", IoctlGetGroups: "SIOCGIFGROUP",
	IoctlGetStatus: "SIOCGIFSTATUS", IoctlGetDownReason: "SIOCGIFDOWNREASON",
	IoctlGetI2C: "SIOCGI2C", IoctlGetI2CPB: "SIOCGI2CPB",
	IoctlGetRSSKey: "SIOCGIFRSSKEY", IoctlSetRSSKey: "SIOCSIFRSSKEY", IoctlGetRSSHash: "SIOCGIFRSSHASH",
	IoctlGetRSSTable: "SIOCGIFRSSTABLE", IoctlSetRSSTable: "SIOCSIFRSSTABLE",
	IoctlGetPrivate0: "SIOCGPRIVATE_0", IoctlGetPrivate1: "SIOCGPRIVATE_1",
	IoctlGetDrvSpec: "SIOCGDRVSPEC", IoctlSetDrvSpec: "SIOCSDRVSPEC",
	IoctlGetVLAN: "SIOCGETVLAN", IoctlSetVLAN: "SIOCSETVLAN",
}

// String is FreeBSD's name of the request.
func (cmd Ioctl) String() string {
	if cmd < numIoctls && ioctlNames[cmd] != "" {
		return ioctlNames[cmd]
	}
	return fmt.Sprintf("ioctl %d", uint32(cmd))
}

// AF is an address family, with FreeBSD's numbers.
type AF uint8

// Address families.
const (
	AFInet  AF = 2  // AF_INET
	AFLink  AF = 18 // AF_LINK
	AFInet6 AF = 28 // AF_INET6
)

// AddrReq is the data of IoctlSetAddr (struct ifaddr).
type AddrReq struct {
	Family AF
	Addr   netip.Prefix
}

// MultiReq is the data of IoctlAddMulti and IoctlDelMulti: a sockaddr_dl.
type MultiReq struct {
	Family AF
	Addr   [EtherAddrLen]byte
}

// CapReq carries capabilities (ifr_reqcap, ifr_curcap, struct ifreq_cap_nv): Req is
// what is supported in a reply and what shall be enabled in a request, Cur what is
// enabled.
type CapReq struct {
	Req, Cur   Caps
	Req2, Cur2 Caps2
}

// VLANReq is where a VLAN interface is (struct vlanreq). Without a Parent it is nowhere.
type VLANReq struct {
	Parent string
	VID    uint16 // 1 to 4094
	Proto  uint16 // EtherTypeVLAN or EtherTypeQinQ; 0 in a request is EtherTypeVLAN
}

// I2C device addresses of a transceiver (SFF-8472).
const (
	I2CAddrA0 uint8 = 0xA0
	I2CAddrA2 uint8 = 0xA2
)

// I2CDataLen is the size of the reply's buffer.
const I2CDataLen = 8

// I2CReq reads bytes of a transceiver module (struct ifi2creq).
type I2CReq struct {
	DevAddr uint8 // I2CAddrA0 or I2CAddrA2
	Offset  uint8 // first byte
	Len     uint8 // bytes, up to I2CDataLen
	Page    uint8 // with IoctlGetI2CPB
	Bank    uint8
	Data    [I2CDataLen]byte
}

// RSS limits and hash functions (net/if.h, net/rss_config.h).
const (
	RSSKeyLen      = 128 // RSS_KEYLEN: room for a key
	RSSTableMaxLen = 128 // entries that fit the request

	RSSFuncNone     uint8 = 0 // RSS_FUNC_NONE
	RSSFuncPrivate  uint8 = 1 // RSS_FUNC_PRIVATE
	RSSFuncToeplitz uint8 = 2 // RSS_FUNC_TOEPLITZ
)

// RSSTypes is a set of packet kinds that are hashed.
type RSSTypes uint32

// Packet kinds (RSS_TYPE_*, spec ifnet 11.3).
const (
	RSSTypeIPv4      RSSTypes = 0x2
	RSSTypeTCPIPv4   RSSTypes = 0x4
	RSSTypeIPv6      RSSTypes = 0x8
	RSSTypeTCPIPv6   RSSTypes = 0x10
	RSSTypeIPv6Ex    RSSTypes = 0x20
	RSSTypeTCPIPv6Ex RSSTypes = 0x40
	RSSTypeUDPIPv4   RSSTypes = 0x80
	RSSTypeUDPIPv6   RSSTypes = 0x200
	RSSTypeUDPIPv6Ex RSSTypes = 0x400
)

// RSSKey is a hash function and its key (struct ifrsskey).
type RSSKey struct {
	Func   uint8
	Spare  uint8 // 0
	KeyLen int   // bytes of Key in use
	Key    [RSSKeyLen]byte
}

// RSSHash is a hash function and what it is applied to (struct ifrsshash).
type RSSHash struct {
	Func  uint8
	Types RSSTypes
}

// RSSTable is the indirection table (struct ifrsstable).
type RSSTable struct {
	NQueues    int // receive queues; filled in by iflib
	TableSize  int // entries the device has
	NumEntries int // entries of Table in use
	Table      [RSSTableMaxLen]uint16
}

// DownReasonKind says how a DownReason is to be read.
type DownReasonKind uint8

// Kinds of down reason (IFDR_REASON_*).
const (
	DownReasonNone   DownReasonKind = iota // the driver gives none
	DownReasonMsg                          // Text
	DownReasonVendor                       // Vendor
)

// DownReason explains a link that is down (struct ifdownreason).
type DownReason struct {
	Kind   DownReasonKind
	Vendor uint32 // vendor code
	Text   string
}

// DrvSpec is a driver's private request (struct ifdrv).
type DrvSpec struct {
	Cmd  uint64
	Data []byte
}
