package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func pfctlCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "pfctl [-S SOCKET] [-degnqv] [-D MACRO=VALUE] [-f FILE] [-F MODIFIER] [-i INTERFACE] [-o lax|json] [-s MODIFIER]",
		Short: "load, show and switch the packet filter and the queues of a running machine, as pfctl(8)",
		Long: `Loads pf.conf into the packet filter of a running machine, which sorts packets into the
queues of ALTQ, and shows rules and queues. What pf.conf may have is in docs/altq.md.

    -d              disable the filter and its queues
    -e              enable them
    -f FILE         load rules and queues from FILE; if it has an error, nothing changes
    -n              parse only
    -D MACRO=VALUE  define a macro before FILE is read
    -F WHAT         clear rules, queue, states or all; WHAT may be abbreviated
    -s WHAT         show queue, rules, info, Running or all; WHAT may be abbreviated
    -v              with -s: counters too; with -f: what is loaded; -vv with -s queue shows
                    measured rates every 5 seconds until it is interrupted
    -i INTERFACE    show this interface's only
    -q              say less
    -g              accepted
    -o lax          leave out with a warning what this filter does not have
    -o json         show as JSON; -o json,pretty indents it

The exit status is 0, or 1 with the reason.`,
		Example: `  ifsim pfctl -nvf docs/altq/priq-ack.conf
  ifsim pfctl -ef docs/altq/priq-ack.conf
  ifsim pfctl -s queue -v`,
	}, ctl.CommandPfctl)
}
