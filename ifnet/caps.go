package ifnet

// Caps are the capability bits of if_capabilities and if_capenable, word 1
// (spec ifnet 6.3, FreeBSD net/if.h IFCAP_*).
type Caps uint32

// Interface capabilities.
const (
	CapRxCsum       Caps = 1 << 0  // IFCAP_RXCSUM
	CapTxCsum       Caps = 1 << 1  // IFCAP_TXCSUM
	CapNetcons      Caps = 1 << 2  // IFCAP_NETCONS
	CapVLANMTU      Caps = 1 << 3  // IFCAP_VLAN_MTU
	CapVLANHWTag    Caps = 1 << 4  // IFCAP_VLAN_HWTAGGING
	CapJumboMTU     Caps = 1 << 5  // IFCAP_JUMBO_MTU
	CapPolling      Caps = 1 << 6  // IFCAP_POLLING
	CapVLANHWCsum   Caps = 1 << 7  // IFCAP_VLAN_HWCSUM
	CapTSO4         Caps = 1 << 8  // IFCAP_TSO4
	CapTSO6         Caps = 1 << 9  // IFCAP_TSO6
	CapLRO          Caps = 1 << 10 // IFCAP_LRO
	CapWOLUcast     Caps = 1 << 11 // IFCAP_WOL_UCAST
	CapWOLMcast     Caps = 1 << 12 // IFCAP_WOL_MCAST
	CapWOLMagic     Caps = 1 << 13 // IFCAP_WOL_MAGIC
	CapTOE4         Caps = 1 << 14 // IFCAP_TOE4
	CapTOE6         Caps = 1 << 15 // IFCAP_TOE6
	CapVLANHWFilter Caps = 1 << 16 // IFCAP_VLAN_HWFILTER
	CapNV           Caps = 1 << 17 // IFCAP_NV
	CapVLANHWTSO    Caps = 1 << 18 // IFCAP_VLAN_HWTSO
	CapLinkState    Caps = 1 << 19 // IFCAP_LINKSTATE
	CapNetmap       Caps = 1 << 20 // IFCAP_NETMAP
	CapRxCsumIPv6   Caps = 1 << 21 // IFCAP_RXCSUM_IPV6
	CapTxCsumIPv6   Caps = 1 << 22 // IFCAP_TXCSUM_IPV6
	CapHWStats      Caps = 1 << 23 // IFCAP_HWSTATS
	CapTxRtLmt      Caps = 1 << 24 // IFCAP_TXRTLMT
	CapHWRxTstmp    Caps = 1 << 25 // IFCAP_HWRXTSTMP
	CapMEXTPG       Caps = 1 << 26 // IFCAP_MEXTPG
	CapTxTLS4       Caps = 1 << 27 // IFCAP_TXTLS4
	CapTxTLS6       Caps = 1 << 28 // IFCAP_TXTLS6
	CapVXLANHWCsum  Caps = 1 << 29 // IFCAP_VXLAN_HWCSUM
	CapVXLANHWTSO   Caps = 1 << 30 // IFCAP_VXLAN_HWTSO
	CapTxTLSRtLmt   Caps = 1 << 31 // IFCAP_TXTLS_RTLMT

	CapHWCsum     = CapRxCsum | CapTxCsum                   // IFCAP_HWCSUM
	CapHWCsumIPv6 = CapRxCsumIPv6 | CapTxCsumIPv6           // IFCAP_HWCSUM_IPV6
	CapTSO        = CapTSO4 | CapTSO6                       // IFCAP_TSO
	CapWOL        = CapWOLUcast | CapWOLMcast | CapWOLMagic // IFCAP_WOL
	CapTOE        = CapTOE4 | CapTOE6                       // IFCAP_TOE
	CapCantChange = CapNetmap | CapNV                       // IFCAP_CANTCHANGE
)

// Caps2 are the capability bits 32 and up (if_capabilities2, if_capenable2).
type Caps2 uint32

// Capabilities of the second word.
const (
	Cap2RxTLS4 Caps2 = 1 << 0 // IFCAP2_RXTLS4
	Cap2RxTLS6 Caps2 = 1 << 1 // IFCAP2_RXTLS6
	Cap2IPsec  Caps2 = 1 << 2 // IFCAP2_IPSEC_OFFLOAD
)
