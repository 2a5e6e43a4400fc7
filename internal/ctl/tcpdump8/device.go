package tcpdump8

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
)

// devices are the interfaces in the order of tcpdump -D: those that are up and running
// first, then by unit.
func devices(k *kern.Kernel) []*ifnet.Ifnet {
	list := slices.Clone(ifnet.List(k))
	slices.SortStableFunc(list, func(a, b *ifnet.Ifnet) int { return merit(a) - merit(b) })
	return list
}

// merit is smaller for an interface that one would rather listen on
// (pcapint_add_dev's get_figure_of_merit).
func merit(ifp *ifnet.Ifnet) int {
	const notRunning, notUp, notConnected, unitBits = 1 << 31, 1 << 30, 1 << 29, 1<<28 - 1
	m := unit(ifp.Name()) & unitBits
	if ifp.DrvFlags()&ifnet.FlagRunning == 0 {
		m |= notRunning
	}
	if ifp.Flags()&ifnet.FlagUp == 0 {
		m |= notUp
	}
	if ifp.LinkState() == ifnet.LinkStateDown {
		m |= notConnected
	}
	return m
}

// unit is the number at the end of a name.
func unit(name string) int {
	n, err := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):])
	if err != nil {
		return 0
	}
	return n
}

// listDevices writes tcpdump -D.
func listDevices(k *kern.Kernel, w io.Writer) error {
	var b strings.Builder
	for i, ifp := range devices(k) {
		var flags []string
		if ifp.Flags()&ifnet.FlagUp != 0 {
			flags = append(flags, "Up")
		}
		if ifp.DrvFlags()&ifnet.FlagRunning != 0 {
			flags = append(flags, "Running")
		}
		if len(flags) == 0 {
			flags = append(flags, "none")
		}
		switch ifp.LinkState() {
		case ifnet.LinkStateUp:
			flags = append(flags, "Connected")
		case ifnet.LinkStateDown:
			flags = append(flags, "Disconnected")
		default:
			flags = append(flags, "Connection status unknown")
		}
		fmt.Fprintf(&b, "%d.%s [%s]\n", i+1, ifp.Name(), strings.Join(flags, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// device is the interface of a name, of a number that -D shows, or the first.
func device(k *kern.Kernel, name string) (*ifnet.Ifnet, error) {
	if name == "" {
		list := devices(k)
		if len(list) == 0 {
			return nil, tool.Messagef("no interfaces available for capture")
		}
		return list[0], nil
	}
	if ifp := ifnet.ByName(k, name); ifp != nil {
		return ifp, nil
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 {
		return nil, noDevice(name)
	}
	list := devices(k)
	switch {
	case n == 0:
		return nil, tool.Messagef("Invalid adapter index 0")
	case n > len(list):
		return nil, tool.Messagef("Invalid adapter index %d: only %d interface%s found", n, len(list), plural(uint64(len(list))))
	}
	return list[n-1], nil
}

// noDevice is what tcpdump says of an interface that does not exist.
func noDevice(name string) error {
	return tool.Messagef("%s: No such device exists\n(BIOCSETIF failed: Device not configured)", name)
}

func plural(n uint64) string {
	if n == 1 {
		return ""
	}
	return "s"
}
