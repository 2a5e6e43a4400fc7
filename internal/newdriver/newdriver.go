package newdriver

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ifsim/ifsim/drivers/skel"
)

// Options says what to write, and where.
type Options struct {
	Name string // of the driver, "foo"; see CheckName
	Dir  string // directory of the module; "" is the current one

	// Module is the path of the module, when Dir has none yet; "" is example.com/NAME.
	Module string
	// Replace is the directory of a checkout of ifsim that the new module shall use,
	// "" for none.
	Replace string
	// Version is the version of ifsim to require when there is no Replace, "" for none.
	Version string
}

// Permissions of what is written.
const (
	dirMode  = 0o777
	fileMode = 0o666
)

// program is a command that boots a machine with the driver, and such a machine's files.
//
//go:embed skelboot
var program embed.FS

// Write writes the driver into the directory Name of o.Dir, and go.mod and go.sum beside
// it unless there is a module already. It returns what it wrote, with paths relative to
// o.Dir and in order. Nothing is overwritten: if a file exists that it would write, the
// error wraps EEXIST and nothing is written. EINVAL: a name or a module that cannot be.
// If the disk fails half way, what was written stays.
func Write(o Options) ([]string, error) {
	if err := CheckName(o.Name); err != nil {
		return nil, err
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	m, files, err := module(o)
	if err != nil {
		return nil, err
	}
	for _, source := range []fs.FS{skel.Source, program} {
		if err := skeleton(source, o.Name, m, files); err != nil {
			return nil, err
		}
	}
	paths := slices.Sorted(maps.Keys(files))
	for _, p := range paths {
		_, err := os.Lstat(filepath.Join(o.Dir, p))
		if err == nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(o.Dir, p), syscall.EEXIST)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for i, p := range paths {
		if err := create(filepath.Join(o.Dir, p), files[p]); err != nil {
			return paths[:i], err
		}
	}
	return paths, nil
}

// create writes a file that does not exist.
func create(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(data)
	return err
}
