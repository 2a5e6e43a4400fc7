package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/ifsim/ifsim/sysctl"
)

// files are a machine's configuration files.
type files struct {
	fsys   fs.FS
	env    map[string]string // settings that are in no file
	loader []sysctl.Setting  // what the loader read
}

// read returns the text of a file; ok is false when it does not exist.
func (f files) read(name string) (text string, ok bool, err error) {
	if f.fsys == nil {
		return "", false, nil
	}
	b, err := fs.ReadFile(f.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("reading %s: %w", name, err)
	}
	return string(b), true, nil
}

// where says which file and line set a variable of the kernel environment: the
// beginning of an error message, empty when none did. Of two files the later counts.
func (f files) where(name string) string {
	if _, ok := f.env[name]; ok {
		return "environment: "
	}
	for _, s := range slices.Backward(f.loader) {
		if s.Name == name {
			return place(s) + ": "
		}
	}
	return ""
}

// place is file and line of a loader's setting, as "boot/loader.conf:3".
func place(s sysctl.Setting) string {
	return fmt.Sprintf("%s:%d", strings.TrimPrefix(s.File, "/"), s.Line)
}

// warnings are the lines about what the machine could not make sense of, each once.
// Any goroutine.
type warnings struct {
	mu    sync.Mutex
	lines []string // guarded by mu
}

// add reports whether the line is new.
func (w *warnings) add(line string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(w.lines, line) {
		return false
	}
	w.lines = append(w.lines, line)
	return true
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.lines)
}
