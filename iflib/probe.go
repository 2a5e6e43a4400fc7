package iflib

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/physmem"
)

// maxRingDescs bounds a ring: indices are 16 bits and a full ring must differ
// from an empty one in the published counts.
const maxRingDescs = 1 << 15

// Probe looks for the device in the driver's identity table
// (iflib_device_probe, spec iflib 2.1). The error wraps ENOTSUP when the
// driver's shared context is unusable and ENXIO when the driver does not know
// the device.
func Probe(drv *Driver, id pci.Identity) (VendorInfo, error) {
	if err := drv.check(); err != nil {
		return VendorInfo{}, err
	}
	if drv.Shared.ParseDevInfo != nil {
		drv.Shared.ParseDevInfo(&id)
	}
	for _, v := range drv.Shared.VendorInfo {
		if v.matches(id) {
			return v, nil
		}
	}
	return VendorInfo{}, fmt.Errorf("%s: no match for %s: %w", drv.Name, id.PnpInfo(), syscall.ENXIO)
}

// matches reports whether the row describes the device. class_mask of FreeBSD
// is ignored there too.
func (v VendorInfo) matches(id pci.Identity) bool {
	return v.Vendor == id.Vendor && v.Device == id.Device &&
		(v.SubVendor == 0 || v.SubVendor == id.SubVendor) &&
		(v.SubDevice == 0 || v.SubDevice == id.SubDevice) &&
		(v.Revision == 0 || v.Revision == id.Revision)
}

// check validates what a driver registers, all that FreeBSD asserts in
// _iflib_assert and iflib_register.
func (drv *Driver) check() error {
	if drv == nil || drv.Name == "" || drv.New == nil || drv.Shared == nil {
		return fmt.Errorf("driver without name, constructor or shared context: %w", syscall.ENOTSUP)
	}
	if err := drv.Shared.check(); err != nil {
		return fmt.Errorf("%s: shared context: %w: %w", drv.Name, err, syscall.ENOTSUP)
	}
	return nil
}

func (s *SharedCtx) check() error {
	switch {
	case !powerOfTwo(int(s.QAlign)) || s.QAlign > physmem.MaxAlign:
		return fmt.Errorf("isc_q_align %d", s.QAlign)
	case s.TxMaxSize == 0 || s.TxMaxSegSize == 0:
		return fmt.Errorf("isc_tx_maxsize %d, isc_tx_maxsegsize %d", s.TxMaxSize, s.TxMaxSegSize)
	case s.TSOMaxSize == 0 != (s.TSOMaxSegSize == 0):
		return fmt.Errorf("isc_tso_maxsize %d, isc_tso_maxsegsize %d", s.TSOMaxSize, s.TSOMaxSegSize)
	case s.RxMaxSize == 0 || s.RxNSegments <= 0 || s.RxMaxSegSize == 0:
		return fmt.Errorf("isc_rx_maxsize %d, isc_rx_nsegments %d, isc_rx_maxsegsize %d", s.RxMaxSize, s.RxNSegments, s.RxMaxSegSize)
	case s.NTxQs < 1 || s.NTxQs > MaxQueuesPerSet || s.NRxQs < 1 || s.NRxQs > MaxQueuesPerSet:
		return fmt.Errorf("isc_ntxqs %d, isc_nrxqs %d", s.NTxQs, s.NRxQs)
	case s.NTxQs <= s.txRing():
		return fmt.Errorf("isc_ntxqs %d with a completion queue", s.NTxQs)
	case s.NFL < 1 || s.NRxQs < s.rxRing()+s.NFL:
		return fmt.Errorf("isc_nfl %d of isc_nrxqs %d", s.NFL, s.NRxQs)
	case s.AdminIntrCnt < 0:
		return fmt.Errorf("isc_admin_intrcnt %d", s.AdminIntrCnt)
	}
	for i := range s.NRxQs {
		if err := checkSizes("nrxd", i, s.NRxdMin[i], s.NRxdDefault[i], s.NRxdMax[i]); err != nil {
			return err
		}
	}
	for i := range s.NTxQs {
		if err := checkSizes("ntxd", i, s.NTxdMin[i], s.NTxdDefault[i], s.NTxdMax[i]); err != nil {
			return err
		}
	}
	if ring := s.txRing(); s.NTxdMin[ring] < txUpdateFreq {
		return fmt.Errorf("isc_ntxd_min[%d] %d below %d", ring, s.NTxdMin[ring], txUpdateFreq)
	}
	return nil
}

// checkSizes checks the three sizes that a driver states for one ring.
func checkSizes(what string, ring, low, def, high int) error {
	for _, n := range [...]int{low, def, high} {
		if !powerOfTwo(n) {
			return fmt.Errorf("isc_%s[%d] %d is not a power of 2", what, ring, n)
		}
	}
	if low > def || def > high || high > maxRingDescs {
		return fmt.Errorf("isc_%s[%d] %d..%d..%d", what, ring, low, def, high)
	}
	return nil
}

// txRing is the ring of a transmit set that holds descriptors (ift_br_offset).
func (s *SharedCtx) txRing() int {
	if s.Flags&FlagHasTxCQ != 0 {
		return 1
	}
	return 0
}

// rxRing is the ring of a receive set that is its first free list
// (ifr_fl_offset).
func (s *SharedCtx) rxRing() int {
	if s.Flags&FlagHasRxCQ != 0 {
		return 1
	}
	return 0
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }
