package devctl8

import (
	"io"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/sysctl"
)

// Machine has the devices; machine.Machine is one. A device is named as "igb0" or
// "pci0:2:0:0".
type Machine interface {
	Attach(device string) error
	Detach(device string) error
	Disable(device string) error
	Enable(device string) error
	Suspend(device string) error
	Resume(device string) error
}

const usageText = tool.Usage("usage: devctl attach device\n" +
	"       devctl detach [-f] device\n" +
	"       devctl disable [-f] device\n" +
	"       devctl enable device\n" +
	"       devctl suspend device\n" +
	"       devctl resume device\n")

// subcommand is what can be done to a device.
type subcommand struct {
	do func(m Machine, device string) error
	// force is whether there is -f, which has no effect: no driver objects to being
	// detached (DEVICE_QUIESCE).
	force bool
}

var subcommands = map[string]subcommand{
	"attach":  {do: Machine.Attach},
	"detach":  {do: Machine.Detach, force: true},
	"disable": {do: Machine.Disable, force: true},
	"enable":  {do: Machine.Enable},
	"suspend": {do: Machine.Suspend},
	"resume":  {do: Machine.Resume},
}

// Run runs devctl(8) with the arguments behind the command's name and returns its exit
// status: 0, or 1 with a message on stderr. Any goroutine; it may sleep.
func Run(m Machine, args []string, stderr io.Writer) (exit int) {
	return tool.Exit("devctl", run(m, args), stderr)
}

func run(m Machine, args []string) error {
	if len(args) == 0 || args[0] == "help" {
		return usageText
	}
	name, args := args[0], args[1:]
	s, ok := subcommands[name]
	if !ok {
		return tool.Messagef("Unknown command %s.", name)
	}
	args, err := s.flags(name, args)
	if err != nil {
		return err
	}
	if err := s.do(m, args[0]); err != nil {
		return tool.Messagef("Failed to %s %s: %s", name, args[0], sysctl.Strerror(err))
	}
	return nil
}

// flags takes -f off; one device must be left.
func (s subcommand) flags(name string, args []string) ([]string, error) {
	usage := usageText
	if s.force {
		var force bool
		usage = tool.Usage("usage: devctl " + name + " [-f] device\n")
		var err error
		args, err = tool.Flags("devctl", usage, getopt.Flags{Plain: tool.Switches(map[byte]*bool{'f': &force})}, args)
		if err != nil {
			return nil, err
		}
	}
	if len(args) != 1 {
		return nil, usage
	}
	return args, nil
}
