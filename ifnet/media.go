package ifnet

// MediaWord is an ifmedia word: type, subtype, options and instance (spec
// ifnet 9, FreeBSD net/if_media.h).
type MediaWord uint32

// Media words of Ethernet interfaces. Extended subtypes (32 and up) are stored
// split: the low five bits in place, the rest shifted by six.
const (
	MediaEther MediaWord = 0x20 // IFM_ETHER

	MediaAuto   MediaWord = 0 // IFM_AUTO
	MediaManual MediaWord = 1 // IFM_MANUAL
	MediaNone   MediaWord = 2 // IFM_NONE

	Media10T           MediaWord = 3                       // IFM_10_T, 10baseT/UTP
	Media100TX         MediaWord = 6                       // IFM_100_TX, 100baseTX
	Media100FX         MediaWord = 7                       // IFM_100_FX, 100baseFX
	Media1000SX        MediaWord = 11                      // IFM_1000_SX, 1000baseSX
	Media1000LX        MediaWord = 14                      // IFM_1000_LX, 1000baseLX
	Media1000CX        MediaWord = 15                      // IFM_1000_CX, 1000baseCX
	Media1000T         MediaWord = 16                      // IFM_1000_T, 1000baseT
	Media10GLR         MediaWord = 18                      // IFM_10G_LR, 10Gbase-LR
	Media10GSR         MediaWord = 19                      // IFM_10G_SR, 10Gbase-SR
	Media10GCX4        MediaWord = 20                      // IFM_10G_CX4, 10Gbase-CX4
	Media2500SX        MediaWord = 21                      // IFM_2500_SX, 2500BaseSX
	Media10GTwinax     MediaWord = 22                      // IFM_10G_TWINAX, 10Gbase-Twinax
	Media10GTwinaxLong MediaWord = 23                      // IFM_10G_TWINAX_LONG, 10Gbase-Twinax-Long
	Media10GLRM        MediaWord = 24                      // IFM_10G_LRM, 10Gbase-LRM
	MediaUnknown       MediaWord = 25                      // IFM_UNKNOWN, Unknown
	Media10GT          MediaWord = 26                      // IFM_10G_T, 10Gbase-T
	Media40GCR4        MediaWord = 27                      // IFM_40G_CR4, 40Gbase-CR4
	Media40GSR4        MediaWord = 28                      // IFM_40G_SR4, 40Gbase-SR4
	Media40GLR4        MediaWord = 29                      // IFM_40G_LR4, 40Gbase-LR4
	Media1000KX        MediaWord = 30                      // IFM_1000_KX, 1000Base-KX
	MediaOther         MediaWord = 31                      // IFM_OTHER, Other
	Media10GKX4        MediaWord = 32&0x1f | 32&^0x1f<<6   // IFM_10G_KX4, 10GBase-KX4
	Media10GKR         MediaWord = 33&0x1f | 33&^0x1f<<6   // IFM_10G_KR, 10GBase-KR
	Media10GCR1        MediaWord = 34&0x1f | 34&^0x1f<<6   // IFM_10G_CR1, 10GBase-CR1
	Media20GKR2        MediaWord = 35&0x1f | 35&^0x1f<<6   // IFM_20G_KR2, 20GBase-KR2
	Media2500KX        MediaWord = 36&0x1f | 36&^0x1f<<6   // IFM_2500_KX, 2500Base-KX
	Media2500T         MediaWord = 37&0x1f | 37&^0x1f<<6   // IFM_2500_T, 2500Base-T
	Media5000T         MediaWord = 38&0x1f | 38&^0x1f<<6   // IFM_5000_T, 5000Base-T
	Media1000SGMII     MediaWord = 41&0x1f | 41&^0x1f<<6   // IFM_1000_SGMII, 1000Base-SGMII
	Media10GSFI        MediaWord = 42&0x1f | 42&^0x1f<<6   // IFM_10G_SFI, 10GBase-SFI
	Media40GXLPPI      MediaWord = 43&0x1f | 43&^0x1f<<6   // IFM_40G_XLPPI, 40GBase-XLPPI
	Media40GKR4        MediaWord = 45&0x1f | 45&^0x1f<<6   // IFM_40G_KR4, 40GBase-KR4
	Media100GCR4       MediaWord = 47&0x1f | 47&^0x1f<<6   // IFM_100G_CR4, 100GBase-CR4
	Media100GSR4       MediaWord = 48&0x1f | 48&^0x1f<<6   // IFM_100G_SR4, 100GBase-SR4
	Media100GKR4       MediaWord = 49&0x1f | 49&^0x1f<<6   // IFM_100G_KR4, 100GBase-KR4
	Media100GLR4       MediaWord = 50&0x1f | 50&^0x1f<<6   // IFM_100G_LR4, 100GBase-LR4
	Media100T          MediaWord = 52&0x1f | 52&^0x1f<<6   // IFM_100_T, 100BaseT
	Media25GCR         MediaWord = 53&0x1f | 53&^0x1f<<6   // IFM_25G_CR, 25GBase-CR
	Media25GKR         MediaWord = 54&0x1f | 54&^0x1f<<6   // IFM_25G_KR, 25GBase-KR
	Media25GSR         MediaWord = 55&0x1f | 55&^0x1f<<6   // IFM_25G_SR, 25GBase-SR
	Media50GCR2        MediaWord = 56&0x1f | 56&^0x1f<<6   // IFM_50G_CR2, 50GBase-CR2
	Media50GKR2        MediaWord = 57&0x1f | 57&^0x1f<<6   // IFM_50G_KR2, 50GBase-KR2
	Media25GLR         MediaWord = 58&0x1f | 58&^0x1f<<6   // IFM_25G_LR, 25GBase-LR
	Media10GAOC        MediaWord = 59&0x1f | 59&^0x1f<<6   // IFM_10G_AOC, 10GBase-AOC
	Media25GACC        MediaWord = 60&0x1f | 60&^0x1f<<6   // IFM_25G_ACC, 25GBase-ACC
	Media25GAOC        MediaWord = 61&0x1f | 61&^0x1f<<6   // IFM_25G_AOC, 25GBase-AOC
	Media100SGMII      MediaWord = 62&0x1f | 62&^0x1f<<6   // IFM_100_SGMII, 100M-SGMII
	Media2500X         MediaWord = 63&0x1f | 63&^0x1f<<6   // IFM_2500_X, 2500Base-X
	Media5000KR        MediaWord = 64&0x1f | 64&^0x1f<<6   // IFM_5000_KR, 5000Base-KR
	Media25GT          MediaWord = 65&0x1f | 65&^0x1f<<6   // IFM_25G_T, 25GBase-T
	Media40GXLAUI      MediaWord = 72&0x1f | 72&^0x1f<<6   // IFM_40G_XLAUI, 40G-XLAUI
	Media40GXLAUIAC    MediaWord = 73&0x1f | 73&^0x1f<<6   // IFM_40G_XLAUI_AC, 40G-XLAUI-AC
	Media50GSR         MediaWord = 82&0x1f | 82&^0x1f<<6   // IFM_50G_SR, 50GBase-SR
	Media50GLR         MediaWord = 83&0x1f | 83&^0x1f<<6   // IFM_50G_LR, 50GBase-LR
	Media50GKRPAM4     MediaWord = 85&0x1f | 85&^0x1f<<6   // IFM_50G_KR_PAM4, 50GBase-KR-PAM4
	Media200GCR4PAM4   MediaWord = 103&0x1f | 103&^0x1f<<6 // IFM_200G_CR4_PAM4, 200GBase-CR4-PAM4
	Media200GSR4       MediaWord = 104&0x1f | 104&^0x1f<<6 // IFM_200G_SR4, 200GBase-SR4
	Media200GLR4       MediaWord = 106&0x1f | 106&^0x1f<<6 // IFM_200G_LR4, 200GBase-LR4

	MediaFDX     MediaWord = 0x00100000 // IFM_FDX
	MediaHDX     MediaWord = 0x00200000 // IFM_HDX
	MediaFlow    MediaWord = 0x00400000 // IFM_FLOW
	MediaFlag0   MediaWord = 0x01000000 // IFM_FLAG0
	MediaFlag1   MediaWord = 0x02000000 // IFM_FLAG1
	MediaFlag2   MediaWord = 0x04000000 // IFM_FLAG2
	MediaLoop    MediaWord = 0x08000000 // IFM_LOOP
	MediaMaster  MediaWord = 0x100      // IFM_ETH_MASTER
	MediaRxPause MediaWord = 0x200      // IFM_ETH_RXPAUSE
	MediaTxPause MediaWord = 0x400      // IFM_ETH_TXPAUSE

	MediaTypeMask    MediaWord = 0x000000e0 // IFM_NMASK
	MediaSubtypeMask MediaWord = 0x0000781f // IFM_TMASK
	MediaModeMask    MediaWord = 0x00070000 // IFM_MMASK
	MediaOptionMask  MediaWord = 0x0000ff00 // IFM_OMASK; overlaps the extended subtypes
	MediaGlobalMask  MediaWord = 0x0ff00000 // IFM_GMASK
	MediaInstMask    MediaWord = 0xf0000000 // IFM_IMASK
)

// MediaStatus is ifm_status of a media query.
type MediaStatus uint32

// Media status bits.
const (
	MediaAValid MediaStatus = 1 // IFM_AVALID: the status is known
	MediaActive MediaStatus = 2 // IFM_ACTIVE: the link is up
)

// MediaReq is the reply of a media query (struct ifmediareq): the current and
// the active media word, the status and the list of what is supported.
type MediaReq struct {
	Current MediaWord
	Active  MediaWord
	Mask    MediaWord // don't-care bits of the object
	Status  MediaStatus
	Count   int         // entries there are; in a request, entries wanted: 0 asks for the number alone
	List    []MediaWord // newest entry first, filled when Count was not 0
}
