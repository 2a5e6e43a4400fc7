package pfctl8

import (
	"fmt"
	"io"
	"strings"

	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/sysctl"
)

// maxFile bounds a file in bytes.
const maxFile = 16 << 20

// read reads a file.
func (c *command) read(name string) (string, error) {
	f, err := c.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("longer than %d bytes", maxFile)
	}
	return string(text), err
}

// load reads a configuration and, without -n, puts it into force (pfctl_rules).
func (c *command) load() error {
	text, err := c.read(c.file)
	if err != nil {
		fmt.Fprintf(c.Stderr, "pfctl: %s: %s\n", c.file, sysctl.Strerror(err))
		return tool.Messagef("cannot open the main config file!")
	}
	o := conf.Options{Lax: c.lax, Macros: c.macros, Open: c.read}
	var verbose strings.Builder
	if c.verbose > 0 {
		o.Verbose = &verbose
	}
	cfg, messages, ok := c.p.Parse(c.file, text, o)
	fmt.Fprint(c.Stdout, verbose.String())
	for _, m := range messages {
		if !m.Warning || !c.quiet {
			fmt.Fprintln(c.Stderr, m)
		}
	}
	switch {
	case !ok && c.dry:
		return silent()
	case !ok:
		return tool.Messagef("Syntax error in config file: pf rules not loaded")
	case c.dry:
		return nil
	}
	return c.p.Load(cfg)
}
