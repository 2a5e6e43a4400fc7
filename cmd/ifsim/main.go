// Command ifsim runs FreeBSD's network driver framework in user space: it boots
// machines from FreeBSD's configuration files, talks to them as FreeBSD's tools
// do, and measures their transmit paths.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := rootCommand()
	name, args := callOf(root, os.Args)
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		var code exitCode
		if errors.As(err, &code) {
			os.Exit(int(code))
		}
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// rootCommand is the whole command line.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "ifsim",
		Short:         "FreeBSD's network driver framework, iflib, in user space",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		bootCommand(),
		sysctlCommand(),
		kenvCommand(),
		devctlCommand(),
		dmesgCommand(),
		ifconfigCommand(),
		netstatCommand(),
		vmstatCommand(),
		pfctlCommand(),
		pktgenCommand(),
		benchCommand(),
		altqWiresCommand(),
		traceCommand(),
		newDriverCommand(),
	)
	return root
}

// exitCode is the error of a command that has said what is wrong and ends with a
// status of its own.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }
