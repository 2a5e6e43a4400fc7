package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/cmd/ifsim/boot"
	"github.com/ifsim/ifsim/internal/shell"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func shellCommand() *cobra.Command {
	var o boot.Options
	cmd := &cobra.Command{
		Use:   "shell DIR",
		Short: "boot a machine and give its root a shell",
		Long: `Boots the machine whose files are under DIR, as ifsim boot does, and takes commands: the
tools of a running machine by their own names, without ifsim before them. The machine is
on the control socket meanwhile, so that other terminals can join. It goes when the shell
ends. Flags are those of ifsim boot.

On a terminal there is a prompt with editing (as in Emacs), a history, and completion with
the Tab key of commands, variables and interfaces. The history is kept in ifsim/history in
$XDG_STATE_HOME or ~/.local/state. ^C ends a tool that runs, ^D the shell. Otherwise lines
are read from standard input, one after the other. Messages of the machine's console go to
standard error.

Lines are as in sh(1), as far as words with quotes, comments, $?, and the joins ; and &&
and || go. What follows a | or > is the host's: its sh gets the output. Beside the tools
there are

    echo [-n] [WORD ...]   print words
    exit [STATUS]          end the shell; quit is the same
    help [TOOL]            list the tools, or show the page of one
    sleep SECONDS          wait
    true, false            succeed, fail

The exit status is that of the last command: 127 for one that is not found, 130 for one
that was interrupted, 2 for a line that makes no sense.`,
		Example: `  ifsim shell docs/labs/first
  echo 'sysctl kern.ostype' | ifsim shell docs/labs/first
  ifsim shell docs/labs/first < commands.sh`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = args[0]
			return runShell(cmd, o)
		},
	}
	addBootFlags(cmd, &o)
	return cmd
}

// runShell boots a machine, runs a shell, and takes the machine down.
func runShell(cmd *cobra.Command, o boot.Options) (err error) {
	interactive := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	ends, interrupts := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGHUP)
	if !interactive {
		interrupts = ends // else they are of the running command only
	}
	signal.Notify(interrupts, os.Interrupt)
	console := shell.NewConsole(cmd.ErrOrStderr())
	o.Console = console
	m, err := boot.Start(o)
	if err != nil {
		return err
	}
	// Commands find the machine where any ifsim does.
	exit := 1
	if err = os.Setenv("IFSIM_SOCK", m.Socket()); err == nil {
		exit, err = converse(cmd, prompt(m.Hostname()), interactive, console, ends)
	}
	if cerr := m.Close(); err == nil {
		err = cerr
	}
	if err == nil && exit != 0 {
		err = exitCode(exit)
	}
	return err
}

// converse runs the shell on the terminal or on standard input until its end, or a signal's.
func converse(cmd *cobra.Command, prompt string, interactive bool, console *shell.Console, ends <-chan os.Signal) (exit int, err error) {
	s := &shell.Shell{Run: runTool, Help: helpOnTools, Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(), Interactive: interactive}
	var in shell.Input = shell.NewReader(cmd.InOrStdin())
	closeInput := func() error { return nil }
	if interactive {
		history, err := shell.HistoryPath()
		if err != nil {
			fmt.Fprintf(s.Stderr, "ifsim: %v\n", err)
		}
		t := shell.NewTerminal(prompt, history, console, choices)
		in, closeInput = t, t.Close
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- s.Loop(ctx, in) }()
	select {
	case exit = <-done:
	case sig := <-ends:
		// A command is told by ctx. Whoever reads a line is not, but the process ends soon.
		const signalled = 128
		exit = signalled
		if n, ok := sig.(syscall.Signal); ok {
			exit += int(n)
		}
	}
	return exit, closeInput()
}

// prompt is root's prompt on a host of the name, of which it shows the first part.
func prompt(hostname string) string {
	host, _, _ := strings.Cut(hostname, ".")
	printable := func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}
	return "root@" + strings.Map(printable, host) + ":~ # "
}

// shellTools are the commands that a shell has: those that ask a running machine.
func shellTools(root *cobra.Command) (tools []*cobra.Command) {
	for _, c := range root.Commands() {
		boots := c.Name() == "boot" || c.Name() == "shell"
		if !boots && c.IsAvailableCommand() && c.Flags().Lookup("socket") != nil {
			tools = append(tools, c)
		}
	}
	return tools
}

// toolIn finds a command of a shell by its name, nil if there is none.
func toolIn(root *cobra.Command, name string) *cobra.Command {
	for _, c := range shellTools(root) {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// runTool runs a command of a shell as if it were called by its name.
func runTool(ctx context.Context, argv []string, stdout io.Writer) (status int, found bool) {
	root := rootCommand()
	if toolIn(root, argv[0]) == nil {
		return 0, false
	}
	root.SetOut(stdout)
	return execute(ctx, root, argv), true
}

// helpOnTools shows the page of a tool, or what tools there are.
func helpOnTools(stdout io.Writer, argv []string) (status int) {
	root := rootCommand()
	root.SetOut(stdout)
	if len(argv) == 0 {
		for _, c := range shellTools(root) {
			fmt.Fprintf(stdout, "%-*s %s\n", root.NamePadding(), c.Name(), c.Short)
		}
		fmt.Fprintf(stdout, "\nThe shell's own: %s. help TOOL shows more.\n", strings.Join(shell.Builtins(), ", "))
		return 0
	}
	c := toolIn(root, argv[0])
	if c == nil {
		fmt.Fprintf(os.Stderr, "help: no tool %s\n", argv[0])
		return 1
	}
	if c.Help() != nil {
		return 1
	}
	return 0
}

// choices completes a word of a shell's line: a command's name, or what the host's shells
// are told, too.
func choices(argv []string, word string) (words []string, open bool) {
	root := rootCommand()
	if len(argv) == 0 || argv[0] == "help" {
		words = shell.Builtins()
		for _, c := range shellTools(root) {
			words = append(words, c.Name())
		}
		words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, word) })
		slices.Sort(words)
		return words, false
	}
	if toolIn(root, argv[0]) == nil {
		return nil, false
	}
	var out strings.Builder
	root.SetOut(&out)
	root.SetErr(io.Discard)
	root.SetArgs(append(append([]string{cobra.ShellCompNoDescRequestCmd}, argv...), word))
	if root.Execute() != nil {
		return nil, false
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	last := len(lines) - 1
	n, _ := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	directive := cobra.ShellCompDirective(n)
	if directive == cobra.ShellCompDirectiveDefault && last == 0 {
		return fileNames(word)
	}
	return lines[:last], directive&cobra.ShellCompDirectiveNoSpace != 0
}

// fileNames are the host's files whose names begin with word. Directories go on.
func fileNames(word string) (names []string, open bool) {
	dir, base := filepath.Split(word)
	entries, err := os.ReadDir(filepath.Join(dir, "."))
	if err != nil {
		return nil, false
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, base) {
			if e.IsDir() {
				name += string(filepath.Separator)
			}
			names = append(names, dir+name)
		}
	}
	return names, true
}
