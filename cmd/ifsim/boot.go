package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/spf13/cobra"
)

func bootCommand() *cobra.Command {
	var socket string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "boot DIR",
		Short: "boot a machine and keep it running",
		Long: `Boots the machine whose files are under DIR (boot/loader.conf, boot/device.hints,
etc/rc.conf, etc/sysctl.conf), prints its console, and serves sysctl, ifconfig,
netstat and pktgen on the control socket until SIGINT or SIGTERM.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return boot(cmd, args[0], socket, verbose)
		},
	}
	addSocketFlag(cmd, &socket)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print what boot -v prints")
	return cmd
}

// boot runs the machine of a directory until a signal ends it.
func boot(cmd *cobra.Command, dir, socket string, verbose bool) (err error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s: not a directory", dir)
	}
	path, err := socketPath(socket)
	if err != nil {
		return err
	}
	ln, err := ctl.Listen(path)
	if err != nil {
		return err
	}
	m, err := machine.Boot(machine.Config{Files: os.DirFS(dir), Console: cmd.OutOrStdout(), Verbose: verbose})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	server := ctl.Serve(ln, m)
	<-ctx.Done()
	stop() // a second signal ends the process at once
	return errors.Join(server.Close(), m.Close())
}
