package machine

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// files are a machine's configuration files.
type files struct {
	fsys fs.FS
	env  map[string]string // settings that are in no file
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

// loaderFiles are where variables of the kernel environment come from; of two
// settings the one in the later file counts.
var loaderFiles = [...]string{"boot/device.hints", "boot/loader.conf", "boot/loader.conf.local"}

// where says which file and line set a variable of the kernel environment: the
// beginning of an error message, empty when it is in none of the usual files.
func (f files) where(name string) string {
	if _, ok := f.env[name]; ok {
		return "environment: "
	}
	found := ""
	for _, file := range loaderFiles {
		text, ok, err := f.read(file)
		if !ok || err != nil {
			continue
		}
		scan := bufio.NewScanner(strings.NewReader(text))
		for line := 1; scan.Scan(); line++ {
			left, _, ok := strings.Cut(scan.Text(), "=")
			if ok && strings.TrimSpace(left) == name {
				found = fmt.Sprintf("%s:%d: ", file, line)
			}
		}
	}
	return found
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
