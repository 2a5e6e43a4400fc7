package dump8

import (
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/sight"
)

const usageText = tool.Usage("usage: dump [-a] [-o json] [device ...]\n")

// Run runs dump with the arguments behind the command's name on a machine and returns its
// exit status: 0, or 1 with a message on stderr. Any goroutine that is not work of the
// machine; it may sleep.
func Run(m *machine.Machine, args []string, streams tool.IO) (exit int) {
	return tool.Exit("dump", run(m, args, streams), streams.Stderr)
}

func run(m *machine.Machine, args []string, streams tool.IO) error {
	format, args, err := tool.TakeFormat(args)
	if err != nil {
		return err
	}
	all := false
	args, err = tool.Flags("dump", usageText, getopt.Flags{Plain: tool.Switches(map[byte]*bool{'a': &all})}, args)
	if err != nil {
		return err
	}
	devices, err := choose(m, args)
	if err != nil {
		return err
	}
	d := sight.Take(m.Kernel(), devices, true)
	if format.JSON {
		return writeJSON(format, &d, all, streams)
	}
	return d.Write(streams.Stdout, all)
}

// choose finds the attached devices of these names, all without names.
func choose(m *machine.Machine, names []string) (list []*iflib.Ctx, err error) {
	some := len(names) > 0
	if !some {
		names = m.Devices()
	}
	for _, name := range names {
		ctx := m.Ctx(name)
		switch {
		case ctx != nil:
			list = append(list, ctx)
		case some:
			return nil, tool.Messagef("%s: no such device is attached", name)
		}
	}
	return list, nil
}

// writeJSON writes the dump as a document. Descriptors with nothing in them, to which no
// index points, are left out unless all is set.
func writeJSON(format tool.Format, d *sight.Dump, all bool, streams tool.IO) error {
	j := format.NewJSON(streams.Stdout, "1")
	j.List("device", func() {
		for i := range d.Devices {
			if !all {
				d.Devices[i].Trim()
			}
			j.Value(&d.Devices[i])
			j.Flush()
			flush(streams)
		}
	})
	j.Field("mbufs", d.Mbufs)
	return j.Close()
}

// flush shows what there is: a dump of many queues is longer than a reply.
func flush(streams tool.IO) {
	if streams.Flush != nil {
		streams.Flush()
	}
}
