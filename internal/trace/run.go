package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/probe"
)

const (
	// linkTime is what links are given to come up, and the stack to say hello.
	linkTime = 5 * time.Second
	// packetTime is how long the machine runs after each packet: longer than the
	// interrupt delays and throttles that drivers program.
	packetTime = 10 * time.Millisecond
	// memory of the machine in bytes.
	memory = 128 << 20
)

// Config says what to trace.
type Config struct {
	Files   fs.FS             // the machine's directory, see machine.Config
	Env     map[string]string // kernel environment on top of it
	Iface   string            // device to send from, "" for the first
	Packets int               // 0 for one
	Size    int               // bytes of a packet, 0 for 1342
	Console io.Writer         // what the machine prints; nil for nobody
}

// Run boots the machine, brings the interface up and waits until all is quiet, turns
// the trace points on, and sends the packets, each when the machine has done what it had
// to do about the last. Errors are those of Boot, ENXIO for no such interface, ENETDOWN
// for one without a link, EINVAL for a size that no packet has.
func Run(cfg Config) (_ *Result, err error) {
	if cfg.Packets == 0 {
		cfg.Packets = 1
	}
	if cfg.Size == 0 {
		cfg.Size = defaultSize
	}
	m, err := machine.Boot(machine.Config{
		Files: cfg.Files, Env: cfg.Env, Console: cfg.Console, MemSize: memory,
		Executor: kern.Stepped, Clock: kern.ManualClock,
	})
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	s := &session{cfg: cfg, m: m}
	if err := s.ready(); err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	if err := s.send(); err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return s.result(), nil
}

// session is a trace being made. One goroutine: the stepped executor's driver.
type session struct {
	cfg    Config
	m      *machine.Machine
	ifp    *ifnet.Ifnet
	start  []Queue
	begin  time.Duration
	events []probe.Event
	errs   []string // what if_transmit returned, by packet
}

// ready brings the interface up.
func (s *session) ready() error {
	if s.cfg.Iface == "" {
		names := s.m.Devices()
		if len(names) == 0 {
			return fmt.Errorf("the machine has no network interface: %w", syscall.ENXIO)
		}
		s.cfg.Iface = names[0]
	}
	name := s.cfg.Iface
	if s.m.Ctx(name) == nil {
		return fmt.Errorf("%s: no such device: %w", name, syscall.ENXIO)
	}
	s.ifp = s.m.Ifnet(name)
	if err := s.m.Up(name); err != nil {
		return err
	}
	s.settle(linkTime)
	if s.ifp.LinkState() != ifnet.LinkStateUp {
		return fmt.Errorf("%s: no link: %w", name, syscall.ENETDOWN)
	}
	return nil
}

// settle runs the machine for d.
func (s *session) settle(d time.Duration) {
	k := s.m.Kernel()
	k.RunUntilIdle()
	k.Advance(d)
	k.RunUntilIdle()
}

// send sends the packets with the trace points on.
func (s *session) send() error {
	k := s.m.Kernel()
	cache := mbuf.Of(k).NewCache()
	defer cache.Close()
	s.start, s.begin = queues(s.m.Ctx(s.cfg.Iface)), k.Uptime()
	k.Probes.Enable(func(e probe.Event) {
		if e.Dev == s.cfg.Iface {
			s.events = append(s.events, e)
		}
	})
	defer k.Probes.Disable()
	for range s.cfg.Packets {
		p, err := packet(cache, s.cfg.Size)
		if err != nil {
			return err
		}
		result := "0"
		if err := s.ifp.Transmit(p); err != nil {
			result = err.Error()
		}
		s.errs = append(s.errs, result)
		s.settle(packetTime)
	}
	return nil
}
