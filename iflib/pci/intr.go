package pci

import (
	"fmt"
	"math/bits"
	"syscall"

	"github.com/ifsim/ifsim/internal/kern"
)

// MSIXCount returns how many MSI-X vectors the function has (pci_msix_count).
func (f *Function) MSIXCount() int { return len(f.msix.entries) }

// MSICount returns how many MSI messages the function has (pci_msi_count).
func (f *Function) MSICount() int { return len(f.msi) }

// MSIXTableBAR returns the register of the BAR that holds the MSI-X table, 0 without
// one (pci_msix_table_bar): what isc_msix_bar wants.
func (f *Function) MSIXTableBAR() int {
	if len(f.msix.entries) == 0 {
		return 0
	}
	return BARReg(f.msix.bir)
}

// AllocMSIX allocates up to want vectors and enables MSI-X (pci_alloc_msix). EINVAL if
// none is wanted, ENODEV without the capability, ENXIO if interrupts are allocated
// already or the table's BAR is not mapped, or the errno of the failpoint
// pci.alloc_msix. pci.limit_msix grants fewer.
func (f *Function) AllocMSIX(want int) (got int, err error) {
	err = f.bus.failMSIX.Error()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		err = f.mayAlloc(want, len(f.msix.entries))
	}
	if err == nil && !f.slot(BARReg(f.msix.bir)).mapped {
		err = syscall.ENXIO
	}
	if err != nil {
		return 0, fmt.Errorf("allocating %d MSI-X vectors of %v: %w", want, f.loc, err)
	}
	got = min(want, len(f.msix.entries))
	if n, hit := f.bus.limitMSIX.Eval(); hit {
		got = min(got, max(n, 1))
	}
	f.kind, f.granted, f.irqs = intrMSIX, got, f.bus.allocIRQs(got)
	f.setControl(f.cfg.at.msix, msixEnable, msixEnable|msixMaskAll)
	return got, nil
}

// AllocMSI allocates up to want messages (pci_alloc_msi); the number wanted, cut to
// what there is, must be a power of two. MSI is enabled by the first SetupIntr. Errors
// as AllocMSIX; the failpoint is pci.alloc_msi.
func (f *Function) AllocMSI(want int) (got int, err error) {
	err = f.bus.failMSI.Error()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		err = f.mayAlloc(want, len(f.msi))
	}
	got = min(want, len(f.msi))
	if err == nil && got&(got-1) != 0 {
		err = syscall.EINVAL
	}
	if err != nil {
		return 0, fmt.Errorf("allocating %d MSI messages of %v: %w", want, f.loc, err)
	}
	f.kind, f.granted, f.irqs = intrMSI, got, f.bus.allocIRQs(got)
	f.setControl(f.cfg.at.msi, uint16(bits.Len(uint(got))-1)<<msiGrantShift, msiGrantMask)
	return got, nil
}

func (f *Function) mayAlloc(want, have int) error {
	switch {
	case want <= 0:
		return syscall.EINVAL
	case f.kind != intrINTx || f.intx.intr.Load() != nil:
		return syscall.ENXIO
	case have == 0:
		return syscall.ENODEV
	}
	return nil
}

// setControl changes bits of the message control register of a capability. Called with mu
// held.
func (f *Function) setControl(capability int, set, mask uint16) {
	reg := capability + capBody
	v := f.cfg.get16(reg)&^mask | set
	f.cfg.val[reg], f.cfg.val[reg+1] = byte(v), byte(v>>8)
	f.apply()
}

// Release gives the messages back and turns MSI or MSI-X off (pci_release_msi). ENODEV
// if none are allocated, EBUSY while a handler is set up.
func (f *Function) Release() error {
	if f.handlers() {
		return fmt.Errorf("releasing messages of %v: %w", f.loc, syscall.EBUSY)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.kind {
	case intrMSI:
		f.setControl(f.cfg.at.msi, 0, msiEnable|msiGrantMask)
	case intrMSIX:
		f.setControl(f.cfg.at.msix, 0, msixEnable)
	default:
		return fmt.Errorf("releasing messages of %v: %w", f.loc, syscall.ENODEV)
	}
	for i := range f.msi {
		f.msi[i].takePending()
	}
	f.msix.reset()
	f.bus.freeIRQs(f.irqs)
	f.kind, f.granted, f.irqs = intrINTx, 0, nil
	return nil
}

// SetupIntr establishes filter on cpu: rid 0 for INTx, 1.. for the allocated messages
// (bus_setup_intr and bus_bind_intr). The message is unmasked, and what was raised
// before fires. EINVAL for a rid that is not allocated, EBUSY if it has a handler.
// TeardownIntr ends it; Close of the value alone does not.
func (f *Function) SetupIntr(rid int, name string, cpu int, filter func()) (*kern.Intr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.vector(rid)
	if v == nil || cpu < 0 || cpu >= f.k.NCPU() {
		return nil, fmt.Errorf("setting up interrupt %d of %v on CPU %d: %w", rid, f.loc, cpu, syscall.EINVAL)
	}
	if v.intr.Load() != nil {
		return nil, fmt.Errorf("setting up interrupt %d of %v: %w", rid, f.loc, syscall.EBUSY)
	}
	if rid == 0 {
		// The line is a level: as long as it is asserted the filter is due again.
		intr := f.k.NewIntr(name, cpu, func() {
			filter()
			f.postINTx()
		})
		f.bus.addHandler(f.number(rid), intr)
		v.intr.Store(intr)
		f.setCommand(0, CmdINTxDis)
		return intr, nil
	}
	intr := f.k.NewIntr(name, cpu, filter)
	f.bus.addHandler(f.number(rid), intr)
	v.intr.Store(intr)
	f.setCommand(CmdINTxDis, 0)
	if f.kind == intrMSIX {
		f.msix.entries[rid-1].program(cpu, rid-1)
		v.setMask(false)
		f.retry(v, modeMSIX)
		return intr, nil
	}
	f.cfg.set32(f.cfg.at.msi+msiAddr, apicBase|uint32(cpu)<<apicCPUShift, msiAddrMask)
	f.cfg.set16(f.cfg.at.msi+msiData, apicVector0, ^uint16(0))
	f.setControl(f.cfg.at.msi, msiEnable, msiEnable)
	return intr, nil
}

// TeardownIntr ends the handler of rid (bus_teardown_intr): its message is masked, a
// pending filter does not run, a running one is waited for. Not from the filter. EINVAL
// if there is no handler.
func (f *Function) TeardownIntr(rid int) error {
	f.mu.Lock()
	v := f.vector(rid)
	var intr *kern.Intr
	if v != nil {
		intr = v.intr.Swap(nil)
	}
	if intr != nil && rid > 0 {
		if f.kind == intrMSIX {
			v.setMask(true)
		} else if !f.anyHandler() {
			f.setControl(f.cfg.at.msi, 0, msiEnable)
		}
	}
	f.mu.Unlock()
	if intr == nil {
		return fmt.Errorf("tearing down interrupt %d of %v: %w", rid, f.loc, syscall.EINVAL)
	}
	intr.Close()
	f.bus.removeHandler(intr)
	return nil
}

// vector returns what rid names, nil if that is not allocated. Called with mu held.
func (f *Function) vector(rid int) *vector {
	switch {
	case rid == 0 && f.kind == intrINTx:
		return &f.intx
	case rid < 1 || rid > f.granted:
		return nil
	case f.kind == intrMSIX:
		return &f.msix.entries[rid-1].vector
	}
	return &f.msi[rid-1]
}

func (f *Function) handlers() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.anyHandler()
}

// anyHandler reports whether a handler is set up. Called with mu held.
func (f *Function) anyHandler() bool {
	if f.intx.intr.Load() != nil {
		return true
	}
	for i := range f.msi {
		if f.msi[i].intr.Load() != nil {
			return true
		}
	}
	for i := range f.msix.entries {
		if f.msix.entries[i].intr.Load() != nil {
			return true
		}
	}
	return false
}
