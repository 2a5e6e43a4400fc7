// Command ifsim runs FreeBSD's network driver framework in user space: it boots
// machines from FreeBSD's configuration files, talks to them as FreeBSD's tools
// do, and measures their transmit paths.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(execute(context.Background(), rootCommand(), os.Args)) }

// execute runs the command line and returns the exit status; what is wrong is printed.
func execute(ctx context.Context, root *cobra.Command, argv []string) (status int) {
	name, args := callOf(root, argv)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case errors.As(err, &code):
		return int(code)
	case err != nil:
		fmt.Fprintf(root.ErrOrStderr(), "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// rootCommand is the whole command line.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ifsim",
		Short: "FreeBSD's network driver framework, iflib, in user space",
		Long: `Runs FreeBSD's network driver framework in user space: boots machines from FreeBSD's
configuration files, talks to them as FreeBSD's tools do, and measures their transmit paths.

The tools find the machine through its control socket: where -S says, else $IFSIM_SOCK,
else ifsim.sock in $XDG_RUNTIME_DIR, else a file of the user's own in the temporary
directory. They have FreeBSD's flags; -S and --help come first. Linked under the name of
one of them the binary is that tool: ln -s ifsim sysctl.

Exit statuses are FreeBSD's of a tool; 130 if it was interrupted, 1 if there is no machine.`,
		Example: `  ifsim boot docs/labs/first
  ifsim ifconfig em0
  ifsim pktgen -i em0 -f tx -n 1000
  ifsim netstat -i`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		bootCommand(),
		shellCommand(),
		sysctlCommand(),
		kenvCommand(),
		devctlCommand(),
		devinfoCommand(),
		pciconfCommand(),
		dmesgCommand(),
		ifconfigCommand(),
		netstatCommand(),
		routeCommand(),
		arpCommand(),
		ndpCommand(),
		vmstatCommand(),
		topCommand(),
		dumpCommand(),
		pfctlCommand(),
		tcpdumpCommand(),
		pktgenCommand(),
		benchCommand(),
		abCommand(),
		altqWiresCommand(),
		traceCommand(),
		newDriverCommand(),
		manCommand(),
		completionCommand(),
	)
	addCompletions(root)
	return root
}

// exitCode is the error of a command that has said what is wrong and ends with a
// status of its own.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }
