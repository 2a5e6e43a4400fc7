package machine

import (
	"slices"

	"github.com/ifsim/ifsim/drivers/em"
	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/igb"
	"github.com/ifsim/ifsim/drivers/igb/igbhw"
	"github.com/ifsim/ifsim/drivers/igc"
	"github.com/ifsim/ifsim/drivers/igc/igchw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/drivers/port/packet"
	"github.com/ifsim/ifsim/drivers/port/pair"
)

// builtinDrivers is the table of drivers that every machine has, in the order in
// which NICs without a place of their own are put into slots. The position is part
// of the address that a NIC without a hint has: new drivers go to the end.
func builtinDrivers() []DriverEntry {
	return []DriverEntry{
		{Driver: &em.Driver, New: emhw.New, Chips: emhw.Chips, DefaultChip: "82574L"},
		{Driver: &igb.Driver, New: igbhw.New, Chips: igbhw.Chips, DefaultChip: igbhw.DefaultChip},
		{Driver: &igc.Driver, New: igchw.New, Chips: igchw.Chips, DefaultChip: igchw.DefaultChip},
	}
}

// driverTable is the table of drivers with the additions.
func driverTable(more []DriverEntry) []DriverEntry {
	table := builtinDrivers()
	for _, e := range more {
		at := slices.IndexFunc(table, func(have DriverEntry) bool { return have.Driver.Name == e.Driver.Name })
		if at >= 0 {
			table[at] = e
		} else {
			table = append(table, e)
		}
	}
	return table
}

// allPorts is a fabric with every kind of port.
func allPorts() *port.Fabric {
	return port.NewFabric(null.Kind(), pair.Kind(), packet.Kind())
}
