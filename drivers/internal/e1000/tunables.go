package e1000

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/ifsim/ifsim/sysctl"
)

// Tunable is one integer knob of hw.em or hw.igc (spec 1g 7.1).
type Tunable struct {
	Name    string
	Default int32
	Flags   sysctl.Flag // sysctl.RDTUN or RWTUN
	Descr   string
}

// Tunables returns the values of a driver class's knobs, by name, and makes the OIDs
// below hw.<class> if no device did before. A max_interrupt_rate that is none is the
// default. The caller's attach is serialised with that of other devices. The knobs stay
// until the machine ends.
func Tunables(tree *sysctl.Tree, class string, table []Tunable) (map[string]int, error) {
	node := "hw." + class
	if _, err := tree.Lookup(node); err != nil {
		hw, err := tree.Lookup("hw")
		if err != nil {
			return nil, fmt.Errorf("adding %s: %w", node, err)
		}
		c := tree.NewCtx()
		parent := c.Node(hw, class, sysctl.RD, "Gigabit Ethernet driver parameters")
		for _, t := range table {
			v := new(atomic.Int32)
			v.Store(t.Default)
			c.Int(parent, t.Name, t.Flags, v, t.Descr)
		}
	}
	values := make(map[string]int, len(table))
	for _, t := range table {
		text, err := tree.Text(node + "." + t.Name)
		if err != nil {
			return nil, fmt.Errorf("reading %s.%s: %w", node, t.Name, err)
		}
		if values[t.Name], err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("reading %s.%s: %w", node, t.Name, err)
		}
	}
	if values["max_interrupt_rate"] <= 0 {
		values["max_interrupt_rate"] = DefaultIntrRate
	}
	return values, nil
}

// Defaults of hw.em.
const (
	defTxDelay  = 66
	defAbsDelay = 66
)

// DefaultIntrRate is how many interrupts a second there are without moderation
// (max_interrupt_rate).
const DefaultIntrRate = 8000

// SmartPowerDown is the knob of hw.em and hw.igc that keeps the PHY's own power saving. Of
// what the drivers know only 82571 has a PHY in which they turn it off.
var SmartPowerDown = Tunable{Name: "smart_pwr_down", Flags: sysctl.RDTUN,
	Descr: "Set to true to leave smart power down enabled on newer adapters"}

var emTunables = []Tunable{
	{Name: "disable_crc_stripping", Flags: sysctl.RDTUN, Descr: "Disable CRC Stripping"},
	{Name: "tx_int_delay", Default: defTxDelay, Flags: sysctl.RDTUN, Descr: "Default transmit interrupt delay in usecs"},
	{Name: "rx_int_delay", Flags: sysctl.RDTUN, Descr: "Default receive interrupt delay in usecs"},
	{Name: "tx_abs_int_delay", Default: defAbsDelay, Flags: sysctl.RDTUN,
		Descr: "Default transmit interrupt delay limit in usecs"},
	{Name: "rx_abs_int_delay", Default: defAbsDelay, Flags: sysctl.RDTUN,
		Descr: "Default receive interrupt delay limit in usecs"},
	SmartPowerDown,
	{Name: "unsupported_tso", Flags: sysctl.RDTUN, Descr: "Allow unsupported em(4) TSO configurations"},
	{Name: "sbp", Flags: sysctl.RDTUN, Descr: "Show bad packets in promiscuous mode"},
	{Name: "eee_setting", Default: 1, Flags: sysctl.RDTUN, Descr: "Enable Energy Efficient Ethernet"},
	{Name: "enable_aim", Default: AIMNormal, Flags: sysctl.RWTUN,
		Descr: "Enable adaptive interrupt moderation (1=normal, 2=lowlatency)"},
	{Name: "max_interrupt_rate", Default: DefaultIntrRate, Flags: sysctl.RDTUN, Descr: "Maximum interrupts per second"},
}

// EMTunables returns the values of hw.em, which em and igb share (spec 1g 7.1).
func EMTunables(tree *sysctl.Tree) (map[string]int, error) { return Tunables(tree, "em", emTunables) }
