package e1000

import "github.com/ifsim/ifsim/iflib"

// Numbers of the shared context (spec 1g 2.1).
const (
	pageSize   = 4096
	tsoMax     = 65535 + 18 // EM_TSO_SIZE and a header with tag
	segMax     = 4096       // EM_TSO_SEG_SIZE
	rxSegMax   = 9216       // MJUM9BYTES
	minDescs   = 128        // EM_MIN_TXD
	defDescs   = 1024       // EM_DEFAULT_TXD
	maxDescs   = 4096       // EM_MAX_TXD
	adminIntrs = 1
)

// SharedCtx is the shared context of a driver of the family, for frames of up to rxMax
// bytes.
func SharedCtx(version string, parts []iflib.VendorInfo, rxMax uint64) iflib.SharedCtx {
	return iflib.SharedCtx{
		QAlign:        pageSize,
		TxMaxSize:     tsoMax,
		TxMaxSegSize:  segMax,
		TSOMaxSize:    tsoMax,
		TSOMaxSegSize: segMax,
		RxMaxSize:     rxMax,
		RxMaxSegSize:  rxSegMax,
		RxNSegments:   1,
		AdminIntrCnt:  adminIntrs,
		VendorInfo:    parts,
		Version:       version,
		NRxdMin:       [iflib.MaxQueuesPerSet]int{minDescs},
		NRxdDefault:   [iflib.MaxQueuesPerSet]int{defDescs},
		NRxdMax:       [iflib.MaxQueuesPerSet]int{maxDescs},
		NTxdMin:       [iflib.MaxQueuesPerSet]int{minDescs},
		NTxdDefault:   [iflib.MaxQueuesPerSet]int{defDescs},
		NTxdMax:       [iflib.MaxQueuesPerSet]int{maxDescs},
		NFL:           1,
		NTxQs:         1,
		NRxQs:         1,
		Flags:         iflib.FlagNeedScratch | iflib.FlagTSOInitIP | iflib.FlagNeedZeroCsum,
	}
}
