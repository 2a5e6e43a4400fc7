package main

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

func TestTheNameThatTheBinaryIsCalledByChoosesTheCommand(t *testing.T) {
	root := &cobra.Command{Use: "ifsim"}
	root.AddCommand(&cobra.Command{Use: "sysctl [-a]", Run: func(*cobra.Command, []string) {}})
	for _, c := range []struct {
		argv []string
		name string
		args []string
	}{
		{[]string{"/usr/bin/ifsim", "sysctl", "-a"}, "ifsim", []string{"sysctl", "-a"}},
		{[]string{"/sbin/sysctl", "-a"}, "sysctl", []string{"sysctl", "-a"}},
		{[]string{"sysctl"}, "sysctl", []string{"sysctl"}},
		{[]string{"other", "-a"}, "ifsim", []string{"-a"}},
		{nil, "ifsim", nil},
		{[]string{"sysctl", "__complete", "-d", ""}, "sysctl", []string{"__complete", "sysctl", "-d", ""}},
		{[]string{"ifsim", "__complete", "sysctl", ""}, "ifsim", []string{"__complete", "sysctl", ""}},
	} {
		if name, args := callOf(root, c.argv); name != c.name || !slices.Equal(args, c.args) {
			t.Errorf("%q: %s %q", c.argv, name, args)
		}
	}
}
