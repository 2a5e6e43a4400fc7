package metrics

import (
	"fmt"
	"net"
)

// Reach is who may connect.
type Reach bool

// Who may connect.
const (
	Loopback Reach = false // this host only
	Public   Reach = true  // whoever reaches the address
)

// Listen makes the listener of a [Server] at a TCP address, as 127.0.0.1:9180; port 0 is
// one that is free. With Loopback an address that other hosts may reach is an error, and
// ":9180" is one.
func Listen(addr string, reach Reach) (net.Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("metrics on %q: %w", addr, err)
	}
	if reach == Loopback && !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("metrics on %q: other hosts could read them; 127.0.0.1:%d is for this host, --metrics-public lets others in", addr, tcp.Port)
	}
	ln, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("metrics on %q: %w", addr, err)
	}
	return ln, nil
}
