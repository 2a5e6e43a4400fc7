package e1000hw

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/pci"
)

// Chip is a part with advanced descriptors.
type Chip struct {
	Name string
	ID   pci.Identity
	Link pci.PCIeLink

	Queues    int // transmit queues, and receive queues
	Vectors   int // of MSI-X
	IVAR82576 bool
	RARs      int // receive addresses
	Speeds    []int

	NoVLANFilter bool
	DevReset     bool // CTRL.DEV_RST is there

	PHY PHYConfig
	NVM NVMConfig // ID is filled in

	EERD, EEWR uint64     // registers of the NVM
	Reset      []RegValue // registers that are not 0 after a reset, beside the common ones
}

// Family is the parts of one driver, the default first.
type Family struct {
	Driver string
	Chips  []Chip
}

// Names returns the names that New knows, the default first.
func (f *Family) Names() []string {
	names := make([]string, len(f.Chips))
	for i := range f.Chips {
		names[i] = f.Chips[i].Name
	}
	return names
}

// New makes the NIC that name says, "" for the default, and binds it to cfg's port, which
// it closes in the end. After the port's link comes up two PHYs take hw.DefaultAutoneg
// to agree, or what hint.<driver>.<unit>.autoneg_ms says. An unknown name is ENODEV, no
// port EINVAL, else the error is that of Port.Bind.
func (f *Family) New(name string, cfg hw.Config) (hw.NIC, error) {
	if name == "" {
		name = f.Chips[0].Name
	}
	for i := range f.Chips {
		if f.Chips[i].Name == name {
			return newAdvanced(&f.Chips[i], cfg)
		}
	}
	return nil, fmt.Errorf("%s: no chip %q (known: %s): %w", f.Driver, name, strings.Join(f.Names(), ", "), syscall.ENODEV)
}
