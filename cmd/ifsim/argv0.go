package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

// callOf is how the binary was called: its name for messages, and the arguments of root.
// Linked under the name of one of root's commands it is that command, so that FreeBSD's
// tools can be called by their own names. A shell that asks for completions of such a link
// gets them, too.
func callOf(root *cobra.Command, argv []string) (name string, args []string) {
	name = root.Name()
	if len(argv) == 0 {
		return name, nil
	}
	args = argv[1:]
	base := filepath.Base(argv[0])
	if !isCommand(root, base) {
		return name, longFlags(root, args)
	}
	if asks := len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd); asks {
		return base, append([]string{args[0], base}, args[1:]...)
	}
	return base, longFlags(root, append([]string{base}, args...))
}
