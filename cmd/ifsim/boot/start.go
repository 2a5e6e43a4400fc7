package boot

import (
	"context"
	"errors"

	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/ifsim/ifsim/internal/ctl/sockpath"
	"github.com/ifsim/ifsim/internal/machine"
)

// Machine is a machine that runs, and serves its control socket.
type Machine struct {
	m      *machine.Machine
	server *ctl.Server
	socket string
}

// Start boots the machine and serves its control socket until Close. Errors are those of
// the files and of the socket.
func Start(o Options) (*Machine, error) {
	cfg, err := o.config()
	if err != nil {
		return nil, err
	}
	if o.Socket == "" {
		path, err := sockpath.Default()
		if err != nil {
			return nil, err
		}
		o.Socket = path
	}
	ln, err := ctl.Listen(o.Socket)
	if err != nil {
		return nil, err
	}
	cfg.Console = o.Console
	m, err := machine.Boot(cfg)
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return &Machine{m: m, server: ctl.Serve(ln, m), socket: o.Socket}, nil
}

// Socket is where the control socket is.
func (m *Machine) Socket() string { return m.socket }

// Hostname is what rc.conf calls the machine, "" if it does not.
func (m *Machine) Hostname() string {
	name, _ := m.m.RC().Get("hostname")
	return name
}

// Close takes the machine down: what clients have running is stopped first.
func (m *Machine) Close() error { return errors.Join(m.server.Close(), m.m.Close()) }

// Run boots the machine and serves its control socket until ctx ends; then it takes the
// machine down. Errors are those of Start and of the end.
func Run(ctx context.Context, o Options) error {
	m, err := Start(o)
	if err != nil {
		return err
	}
	<-ctx.Done()
	return m.Close()
}
