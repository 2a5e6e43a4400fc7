package main

import "github.com/spf13/cobra"

// helpFlag shows a command's page. On tools of FreeBSD it has no letter: there -h is theirs.
const helpFlag = "help"

// ownFlags are the flags that a tool of FreeBSD has here beside its own. They are taken
// from the front of its arguments, and declared for its page only.
func ownFlags(cmd *cobra.Command) {
	var socket string
	addSocketFlag(cmd, &socket)
	cmd.Flags().Bool(helpFlag, false, "show this page")
	cmd.DisableFlagsInUseLine = true
}

// helpAsked reports whether a tool's arguments ask for its page.
func helpAsked(args []string) bool { return len(args) > 0 && args[0] == "--"+helpFlag }
