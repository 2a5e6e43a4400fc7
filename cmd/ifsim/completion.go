package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/complete"
	"github.com/spf13/cobra"
)

// completionTime is how long a running machine may take to tell what a word may become.
const completionTime = 2 * time.Second

// completionWriters write the script of a shell for a command of some name.
var completionWriters = map[string]func(cmd *cobra.Command, w io.Writer) error{
	"bash": func(cmd *cobra.Command, w io.Writer) error { return cmd.GenBashCompletionV2(w, true) },
	"zsh":  (*cobra.Command).GenZshCompletion,
	"fish": func(cmd *cobra.Command, w io.Writer) error { return cmd.GenFishCompletion(w, true) },
}

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish [TOOL ...]",
		Short: "write a script that completes command lines in a shell",
		Long: `Writes a script to standard output that teaches a shell to complete ifsim's commands and
flags, and the names of variables, interfaces and devices of the machine that runs: ifsim
asks it through its control socket. Without a machine there are none.

With TOOLs the script is for them instead: links to ifsim that are called by a tool's name.

    bash   source <(ifsim completion bash), for each shell in ~/.bashrc
    zsh    ifsim completion zsh > "${fpath[1]}/_ifsim"
    fish   ifsim completion fish > ~/.config/fish/completions/ifsim.fish

The exit status is 0, or 1 for a shell or a tool that is not known.`,
		Example: `  source <(ifsim completion bash)
  source <(ifsim completion bash sysctl ifconfig)`,
		Args:      cobra.MinimumNArgs(1),
		ValidArgs: []string{"bash", "fish", "zsh"},
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := completionWriters[args[0]]
			if !ok {
				return fmt.Errorf("unknown shell %q: bash, zsh or fish", args[0])
			}
			names := args[1:]
			if len(names) == 0 {
				names = []string{cmd.Root().Name()}
			}
			for _, name := range names {
				if name != cmd.Root().Name() && !isCommand(cmd.Root(), name) {
					return fmt.Errorf("ifsim has no tool %q", name)
				}
				if err := write(&cobra.Command{Use: name}, cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// isCommand reports whether root has a command of the name.
func isCommand(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
}

// addCompletions completes what cobra cannot know: the arguments of FreeBSD's tools, the
// interfaces of a running machine, and directories of machines.
func addCompletions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		socket := cmd.Flags().Lookup("socket")
		switch {
		case cmd.DisableFlagParsing && socket != nil:
			cmd.ValidArgsFunction = completeTool
		case strings.HasSuffix(cmd.Use, " DIR"):
			cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
		}
	}
}

// completeTool completes the arguments of a tool that has FreeBSD's flags.
func completeTool(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	socket, args, err := leadingSocket(args, hasOwnS(cmd))
	if err != nil { // -S alone
		return nil, cobra.ShellCompDirectiveDefault
	}
	choice := complete.Tool(asker(cmd.Context(), socket), cmd.Name(), args, word)
	switch {
	case choice.Files:
		return nil, cobra.ShellCompDirectiveDefault
	case choice.Open:
		return choice.Words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return choice.Words, cobra.ShellCompDirectiveNoFileComp
}

// asker asks the machine on a control socket, and says nothing of what goes wrong.
func asker(ctx context.Context, socket string) complete.Ask {
	if ctx == nil {
		ctx = context.Background()
	}
	return func(tool string, args ...string) []string {
		m, err := client.New(socket)
		if err != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		reply, err := m.Do(ctx, client.Request{Command: tool, Args: args})
		if err != nil || reply.Exit != 0 || len(reply.Stdout) == 0 {
			return nil
		}
		return strings.Split(strings.TrimSuffix(string(reply.Stdout), "\n"), "\n")
	}
}
