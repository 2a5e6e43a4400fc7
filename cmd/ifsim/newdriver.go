package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/internal/newdriver"
	"github.com/spf13/cobra"
)

func newDriverCommand() *cobra.Command {
	var o newdriver.Options
	cmd := &cobra.Command{
		Use:   "newdriver NAME",
		Short: "write a small driver with its hardware and tests, to change into one's own",
		Long: `Writes a complete driver called NAME into the directory NAME: a copy of the
example in ifsim's drivers/skel, with the constants, the hardware, the tests and
the conformance suite. Where there is no go.mod yet, one is written beside it,
with -replace for a checkout of ifsim; then "go test ./..." passes. Nothing is
overwritten. docs/writing-a-driver.md goes through all of it.

Prints the files that it has written. The exit status is 0, or 1 with the reason.`,
		Example: `  ifsim newdriver --replace ~/src/ifsim foo`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name, o.Version = args[0], ownVersion()
			files, err := newdriver.Write(o)
			for _, f := range files {
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			if err != nil {
				return fmt.Errorf("newdriver: %w", err)
			}
			if o.Replace == "" && o.Version == "" && slices.Contains(files, "go.mod") {
				fmt.Fprintln(cmd.ErrOrStderr(), noVersion)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", ".", "directory of the module")
	f.StringVar(&o.Module, "module", "", "path of a new module (default example.com/NAME)")
	f.StringVar(&o.Replace, "replace", "", "checkout of ifsim that a new module uses")
	return cmd
}

// noVersion is said when a new go.mod cannot name a version of ifsim.
const noVersion = `This ifsim has no version that go.mod could require. To use a checkout:
go mod edit -require=github.com/ifsim/ifsim@v0.0.0 -replace=github.com/ifsim/ifsim=CHECKOUT && go mod tidy`

// ownVersion is the version of ifsim that this program is, "" if it has none that could
// be fetched.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasPrefix(info.Main.Version, "v") || strings.Contains(info.Main.Version, "+dirty") {
		return ""
	}
	return info.Main.Version
}
