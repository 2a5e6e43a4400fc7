package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

//go:generate go run -pgo=off . man ../../docs/man

// manCommand writes what --help shows as pages, docs/man among them.
func manCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:    "man DIR",
		Short:  "write the pages of all commands into a directory",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := manWriters[format]
			if !ok {
				return fmt.Errorf("unknown format %q: markdown or man", format)
			}
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // it has a date
			return write(root, args[0])
		},
	}
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown, or man for man(1)")
	return cmd
}

// manWriters are the formats of man: a file a command.
var manWriters = map[string]func(root *cobra.Command, dir string) error{
	"markdown": doc.GenMarkdownTree,
	"man": func(root *cobra.Command, dir string) error {
		return doc.GenManTree(root, &doc.GenManHeader{Section: "8", Source: "ifsim", Manual: "ifsim"}, dir)
	},
}
