package packet

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
)

const kindName = "packet"

// Kind describes the kind for a Fabric: "packet:IFNAME" or "packet:IFNAME,ns=NAME". NAME is
// a network namespace as ip-netns(8) names it, or, with a slash in it, a path such as
// /proc/1/ns/net. An interface that does not exist is ENXIO.
func Kind() port.Kind {
	return port.Kind{Name: kindName, Open: func(arg string) (port.Port, error) {
		p, err := open(arg)
		if err != nil {
			return nil, fmt.Errorf("%s:%s: %w", kindName, arg, err)
		}
		return p, nil
	}}
}

// spec is what the argument of a port says.
type spec struct {
	ifname string
	ns     string // "" is the caller's
}

// parse splits "IFNAME,ns=NAME".
func parse(arg string) (spec, error) {
	name, opts, more := strings.Cut(arg, ",")
	s := spec{ifname: name}
	if !validIfname(name) {
		return spec{}, fmt.Errorf("%q is not an interface name (1 to %d bytes without slash, colon or space): %w",
			name, unix.IFNAMSIZ-1, syscall.EINVAL)
	}
	for more {
		var opt string
		opt, opts, more = strings.Cut(opts, ",")
		key, val, _ := strings.Cut(opt, "=")
		if key != "ns" {
			return spec{}, fmt.Errorf("no option %q (known: ns): %w", opt, syscall.EINVAL)
		}
		if val == "" || val == "." || val == ".." || strings.ContainsRune(val, 0) {
			return spec{}, fmt.Errorf("option ns names no namespace: %w", syscall.EINVAL)
		}
		s.ns = val
	}
	return s, nil
}

// validIfname follows the kernel's dev_valid_name.
func validIfname(name string) bool {
	return name != "" && len(name) < unix.IFNAMSIZ && name != "." && name != ".." &&
		!strings.ContainsAny(name, "/: \t\n\v\f\r\x00")
}
