package boot

import (
	"context"
	"errors"

	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/ifsim/ifsim/internal/ctl/sockpath"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/metrics"
)

// Machine is a machine that runs, and serves its control socket and its metrics.
type Machine struct {
	m       *machine.Machine
	server  *ctl.Server
	metrics *metrics.Server // nil for none
	socket  string
}

// Start boots the machine and serves its control socket, and metrics if they are wanted,
// until Close. Errors are those of the files, of the socket and of the metrics' address.
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
	l, err := o.listen()
	if err != nil {
		return nil, err
	}
	cfg.Console = o.Console
	m, err := machine.Boot(cfg)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	running := &Machine{m: m, server: ctl.Serve(l.control, m), socket: o.Socket}
	if l.metrics != nil {
		running.metrics = metrics.Serve(l.metrics, metrics.Source{Machine: m, Clients: running.server.Clients})
		m.Kernel().Printf("metrics: %s\n", running.metrics.URL())
	}
	return running, nil
}

// Socket is where the control socket is.
func (m *Machine) Socket() string { return m.socket }

// Hostname is what rc.conf calls the machine, "" if it does not.
func (m *Machine) Hostname() string {
	name, _ := m.m.RC().Get("hostname")
	return name
}

// Close takes the machine down: what scrapers and clients have running is stopped first.
func (m *Machine) Close() error {
	var err error
	if m.metrics != nil {
		err = m.metrics.Close()
	}
	return errors.Join(err, m.server.Close(), m.m.Close())
}

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
