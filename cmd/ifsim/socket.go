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
// are a tool's own.
func leadingSocket(args []string) (socket string, rest []string, err error) {
	if len(args) == 0 {
		return "", args, nil
	}
	first := args[0]
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

// toolCommand is a tool of FreeBSD that runs in the machine: its arguments are its own,
// except for a leading -S or --help.
func toolCommand(cmd *cobra.Command, command string) *cobra.Command {
	cmd.DisableFlagParsing = true
	ownFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if helpAsked(args) {
			return cmd.Help()
		}
		socket, args, err := leadingSocket(args)
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
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
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

// show prints what a tool has printed.
func show(cmd *cobra.Command, reply ctl.Reply) error {
	if _, err := cmd.OutOrStdout().Write(reply.Stdout); err != nil {
		return err
	}
	_, err := cmd.ErrOrStderr().Write(reply.Stderr)
	return err
}
