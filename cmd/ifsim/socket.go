package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

// addSocketFlag adds -S to a command.
func addSocketFlag(cmd *cobra.Command, socket *string) {
	cmd.Flags().StringVarP(socket, "socket", "S", "", "control `socket` (default $IFSIM_SOCK, $XDG_RUNTIME_DIR/ifsim.sock or a file of your own in the temporary directory)")
}

// leadingSocket takes -S PATH, -SPATH or --socket PATH from the front of arguments that
// are a tool's own. A tool with an -S of its own has the long one only.
func leadingSocket(args []string, long bool) (socket string, rest []string, err error) {
	if len(args) == 0 {
		return "", args, nil
	}
	first := args[0]
	if long && strings.HasPrefix(first, "-S") {
		return "", args, nil
	}
	for _, name := range [...]string{"--socket=", "-S"} {
		if value, ok := strings.CutPrefix(first, name); ok && value != "" {
			return value, args[1:], nil
		}
	}
	if first != "-S" && first != "--socket" {
		return "", args, nil
	}
	if len(args) == 1 {
		return "", nil, fmt.Errorf("%s needs the path of a control socket", first)
	}
	return args[1], args[2:], nil
}

// hasOwnS reports whether a tool has an -S of its own.
func hasOwnS(cmd *cobra.Command) bool { return cmd.Flags().Lookup("socket").Shorthand == "" }

// toolCommand is a tool of FreeBSD that runs in the machine: its arguments are its own,
// except for a leading -S or --help.
func toolCommand(cmd *cobra.Command, command string) *cobra.Command {
	cmd.DisableFlagParsing = true
	ownFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if helpAsked(args) {
			return cmd.Help()
		}
		socket, args, err := leadingSocket(args, hasOwnS(cmd))
		if err != nil {
			return err
		}
		// Without a working directory only absolute paths can be named.
		dir, _ := os.Getwd()
		_, err = ask(cmd, socket, ctl.Request{Command: command, Args: args, Dir: dir})
		return err
	}
	return cmd
}

// ask sends a request and prints what the tool printed. A tool's exit status is the
// command's.
func ask(cmd *cobra.Command, socket string, req ctl.Request) (ctl.Reply, error) {
	m, err := client.New(socket)
	if err != nil {
		return ctl.Reply{}, err
	}
	ctx, stop := interruptible(cmd.Context(), &req)
	defer stop()
	req.Partial = func(part ctl.Reply) { _ = show(cmd, part) } // the rest is lost as this is
	reply, err := m.Do(ctx, req)
	if errors.Is(err, context.Canceled) {
		const interrupted = 130
		return reply, exitCode(interrupted)
	}
	if err != nil {
		return reply, err
	}
	if err := show(cmd, reply); err != nil {
		return reply, err
	}
	if reply.Error != "" {
		return reply, errors.New(reply.Error)
	}
	if reply.Exit != 0 {
		return reply, exitCode(reply.Exit)
	}
	return reply, nil
}

// interruptible is a context that an interrupt ends. What pktgen and tcpdump have done is
// worth hearing, so that the first one, or the end of ctx, asks it to end, and the second
// does not wait for that.
func interruptible(ctx context.Context, req *ctl.Request) (context.Context, context.CancelFunc) {
	if req.Command != ctl.CommandPktgen && req.Command != ctl.CommandTcpdump {
		return signal.NotifyContext(ctx, os.Interrupt)
	}
	first, unregister := signal.NotifyContext(ctx, os.Interrupt)
	req.Stop = first.Done()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	again := context.AfterFunc(first, func() {
		second, stop := signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
		<-second.Done()
		cancel()
	})
	return ctx, func() {
		again()
		cancel()
		unregister()
	}
}

// show prints what a tool has printed.
func show(cmd *cobra.Command, reply ctl.Reply) error {
	if _, err := cmd.OutOrStdout().Write(reply.Stdout); err != nil {
		return err
	}
	_, err := cmd.ErrOrStderr().Write(reply.Stderr)
	return err
}
