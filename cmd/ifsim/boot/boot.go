// Package boot is the command `ifsim boot` for programs that bring drivers of their own:
// it runs a machine that has them beside ifsim's. FreeBSD's counterpart is a kernel with
// a module loaded.
//
//	func main() { boot.Main(boot.Device{Driver: &foo.Driver, Hardware: foohw.New}) }
//
// Everything else, sysctl, ifconfig, netstat and pktgen, is asked with ifsim itself: it
// talks to the machine through its control socket.
package boot

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

// Device is a driver and the hardware that it drives. hint.NAME.0.port and its relatives
// in the machine's boot/device.hints put one into a slot.
type Device struct {
	Driver *iflib.Driver
	// Hardware makes one NIC for Driver.
	Hardware func(hw.Config) (hw.NIC, error)
}

// entry is the device as a machine knows it: a driver with one chip, of its own name.
func (d Device) entry() machine.DriverEntry {
	name := d.Driver.Name
	return machine.DriverEntry{
		Driver:      d.Driver,
		New:         func(_ string, cfg hw.Config) (hw.NIC, error) { return d.Hardware(cfg) },
		Chips:       func() []string { return []string{name} },
		DefaultChip: name,
	}
}

// Options says what to boot.
type Options struct {
	Dir     string    // the machine's files: boot/loader.conf, boot/device.hints, etc/rc.conf
	Socket  string    // control socket; "" is the default one
	Verbose bool      // boot -v
	Console io.Writer // what the machine prints
	Devices []Device  // beside ifsim's own; one of the same name takes its place

	// Metrics is the TCP address at which Prometheus finds metrics, as 127.0.0.1:9180; "" for
	// none. MetricsPublic allows one that other hosts reach.
	Metrics       string
	MetricsPublic bool

	// CrashDir is where dumps go when a driver breaks its contract or the machine panics;
	// "" is var/crash below Dir, if there is such a directory.
	CrashDir string
}

// crashDir is where dumps go, "" for nowhere.
func (o Options) crashDir() string {
	if o.CrashDir != "" {
		return o.CrashDir
	}
	dir := filepath.Join(o.Dir, "var", "crash")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// config is the machine's without an executor.
func (o Options) config() (machine.Config, error) {
	cfg := machine.Config{Files: os.DirFS(o.Dir), Verbose: o.Verbose, CrashDir: o.crashDir()}
	for _, d := range o.Devices {
		cfg.Drivers = append(cfg.Drivers, d.entry())
	}
	info, err := os.Stat(o.Dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: not a directory", o.Dir)
	}
	return cfg, err
}

// DryRun boots the machine with nothing plugged in, writes to the console what its files
// make of it, and takes it down again. Nothing of it runs, and it has no control socket.
func DryRun(o Options) error {
	cfg, err := o.config()
	if err != nil {
		return err
	}
	cfg.DryRun, cfg.Executor, cfg.Clock = true, kern.Stepped, kern.ManualClock
	m, err := machine.Boot(cfg)
	if err != nil {
		return err
	}
	return errors.Join(m.WritePlan(o.Console), m.Close())
}

// Signalled returns a context that ends with SIGINT or SIGTERM. A second signal ends the
// process at once.
func Signalled(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Main is the body of a command: it boots the machine in the directory that the command
// line names, with -v and -S as of ifsim boot, and ends the process.
func Main(devices ...Device) {
	name := filepath.Base(os.Args[0])
	f := flag.NewFlagSet(name, flag.ExitOnError)
	o := Options{Console: os.Stdout, Devices: devices}
	f.BoolVar(&o.Verbose, "v", false, "print what boot -v prints")
	dry := f.Bool("dry-run", false, "print what the files make of the machine, and end")
	f.StringVar(&o.Socket, "S", "", "control `socket` (default as ifsim's)")
	f.StringVar(&o.Metrics, "metrics", "", "serve metrics for Prometheus at this `address`, as 127.0.0.1:9180")
	f.BoolVar(&o.MetricsPublic, "metrics-public", false, "let other hosts read the metrics")
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "usage: %s [-v] [-S socket] [-metrics address [-metrics-public]] [-dry-run] DIR\n", name)
		f.PrintDefaults()
	}
	_ = f.Parse(os.Args[1:]) // ends the process on an error
	if f.NArg() != 1 {
		f.Usage()
		const usage = 2
		os.Exit(usage)
	}
	o.Dir = f.Arg(0)
	run := Run
	if *dry {
		run = func(_ context.Context, o Options) error { return DryRun(o) }
	}
	ctx, stop := Signalled(context.Background())
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
