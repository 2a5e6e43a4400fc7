package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

// callOf is how the binary was called: its name for messages, and the arguments of root.
// Linked under the name of one of root's commands it is that command, so that FreeBSD's
// tools can be called by their own names.
func callOf(root *cobra.Command, argv []string) (name string, args []string) {
	name = root.Name()
	if len(argv) == 0 {
		return name, nil
	}
	args = argv[1:]
	base := filepath.Base(argv[0])
	for _, c := range root.Commands() {
		if c.Name() == base {
			return base, longFlags(root, append([]string{base}, args...))
		}
	}
	return name, longFlags(root, args)
}
