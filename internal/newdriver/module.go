package newdriver

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// ifsim is the path of this module.
const ifsim = "github.com/ifsim/ifsim"

// The files that make a directory a module.
const (
	modFile = "go.mod"
	sumFile = "go.sum"
)

// module returns the path of the module in o.Dir, or that of the one to be written and
// its files.
func module(o Options) (string, map[string][]byte, error) {
	files := map[string][]byte{}
	text, err := os.ReadFile(filepath.Join(o.Dir, modFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newModule(o, files)
	case err != nil:
		return "", nil, err
	}
	have := readModule(text).path
	switch {
	case have == "":
		return "", nil, fmt.Errorf("%s does not say which module it is: %w", filepath.Join(o.Dir, modFile), syscall.EINVAL)
	case o.Module != "" && o.Module != have:
		return "", nil, fmt.Errorf("%s is module %s, not %s: %w", o.Dir, have, o.Module, syscall.EINVAL)
	case o.Replace != "":
		return "", nil, fmt.Errorf("%s: %w; go mod edit -replace=%s=%s changes it",
			filepath.Join(o.Dir, modFile), syscall.EEXIST, ifsim, o.Replace)
	}
	return have, files, nil
}

// newModule writes the files of a module.
func newModule(o Options, files map[string][]byte) (string, map[string][]byte, error) {
	if o.Module == "" {
		o.Module = "example.com/" + o.Name
	}
	if err := checkPath(o.Module); err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "module %s\n\n", o.Module)
	switch {
	case o.Replace != "":
		if err := replaced(&b, o, files); err != nil {
			return "", nil, err
		}
	case o.Version != "":
		fmt.Fprintf(&b, "go %s\n\nrequire %s %s\n", strings.TrimPrefix(runtime.Version(), "go"), ifsim, o.Version)
	default:
		fmt.Fprintf(&b, "go %s\n", strings.TrimPrefix(runtime.Version(), "go"))
	}
	files[modFile] = b.Bytes()
	return o.Module, files, nil
}

// replaced has the module use a checkout: its own modules, in its versions, so that
// nothing needs to be looked up or fetched that it does not need itself.
func replaced(b *bytes.Buffer, o Options, files map[string][]byte) error {
	dir, err := filepath.Abs(o.Replace)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, modFile))
	if err != nil {
		return fmt.Errorf("checkout of ifsim: %w", err)
	}
	m := readModule(text)
	if m.path != ifsim {
		return fmt.Errorf("%s is module %q and no checkout of ifsim: %w", dir, m.path, syscall.EINVAL)
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumFile))
	if err != nil {
		return fmt.Errorf("checkout of ifsim: %w", err)
	}
	files[sumFile] = sums
	fmt.Fprintf(b, "go %s\n\nrequire %s v0.0.0\n\nrequire (\n", m.goVersion, ifsim)
	for _, r := range m.requires {
		fmt.Fprintf(b, "\t%s // indirect\n", r)
	}
	fmt.Fprintf(b, ")\n\nreplace %s => %s\n", ifsim, quoted(dir))
	return nil
}

// modInfo is what matters of a go.mod.
type modInfo struct {
	path, goVersion string
	requires        []string // "path version"
}

// readModule reads a go.mod as the go command writes it.
func readModule(text []byte) (m modInfo) {
	block := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if block == "" && len(words) == 2 && words[1] == "(" {
			block = words[0]
			continue
		}
		if words[0] == ")" {
			block = ""
			continue
		}
		if block != "" {
			words = append([]string{block}, words...)
		}
		switch {
		case words[0] == "module" && len(words) == 2:
			m.path = unquoted(words[1])
		case words[0] == "go" && len(words) == 2:
			m.goVersion = words[1]
		case words[0] == "require" && len(words) == 3:
			m.requires = append(m.requires, words[1]+" "+words[2])
		}
	}
	return m
}

func unquoted(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}

// quoted is a file path as go.mod wants it.
func quoted(s string) string {
	if strings.ContainsAny(s, " \t\"'`(){}[],") || strings.Contains(s, "//") {
		return strconv.Quote(s)
	}
	return s
}

// checkPath refuses a module path that the go command would: this is not all of its
// rules, but what somebody may type.
func checkPath(p string) error {
	const ok = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"
	clean := path.Clean(p) == p && !path.IsAbs(p) && p != "." && !strings.HasPrefix(p, ".") && !strings.HasPrefix(p, "-")
	if !clean || strings.Trim(p, ok) != "" {
		return fmt.Errorf("module path %q: %w", p, syscall.EINVAL)
	}
	if p == ifsim || strings.HasPrefix(p, ifsim+"/") {
		return fmt.Errorf("module path %q is ifsim's own: %w", p, syscall.EINVAL)
	}
	return nil
}
