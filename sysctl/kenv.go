package sysctl

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
)

// Limits of the kernel environment (spec ifnet 2.1).
const (
	KenvNameLen  = 128 // longest name (KENV_MNAMELEN)
	KenvValueLen = 128 // longest value (KENV_MVALLEN)
	KenvSize     = 512 // entries (KENV_SIZE)

	// kenvBootLen bounds "name=value" with its NUL for what the loader hands over.
	kenvBootLen = KenvNameLen + 1 + KenvValueLen + 1
)

// Kenv is the kernel environment: an ordered list of name=value strings, safe
// for concurrent use. Tunables of a [Tree] are fetched from it (spec ifnet 2).
type Kenv struct {
	mu      sync.Mutex
	entries []kenvEntry                                 // guarded by mu; dump order
	logf    func(string, ...any)                        // guarded by mu
	watch   []func(name string, value string, set bool) // guarded by mu; called without it
}

// kenvEntry is one variable.
type kenvEntry struct{ name, value string }

// NewKenv returns an empty environment.
func NewKenv() *Kenv { return &Kenv{} }

// SetLog sets where FetchBool complains; formats end in a newline, as for printf(9).
// NewTree sets it to the log of the tree.
func (e *Kenv) SetLog(logf func(string, ...any)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.logf = logf
}

// find reports the index of name or -1. The lock is held.
func (e *Kenv) find(name string) int {
	for i := range e.entries {
		if e.entries[i].name == name {
			return i
		}
	}
	return -1
}

// Get reports the value of name (kern_getenv).
func (e *Kenv) Get(name string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := e.find(name); i >= 0 {
		return e.entries[i].value, true
	}
	return "", false
}

// Set replaces the value of name in place or appends it (kern_setenv). EINVAL: the
// name is empty or holds '=' or NUL; ENAMETOOLONG: name or value is too long; ENOSPC: the
// table is full, which kenv(2) would keep silent about.
func (e *Kenv) Set(name, value string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00"):
		return fmt.Errorf("setting kernel environment variable %q: %w", name, syscall.EINVAL)
	case len(name) > KenvNameLen || len(value) > KenvValueLen:
		return fmt.Errorf("setting kernel environment variable %q: %w", name, syscall.ENAMETOOLONG)
	case !e.put(name, value):
		return fmt.Errorf("setting kernel environment variable %q: %w", name, syscall.ENOSPC)
	}
	return nil
}

// put stores a checked pair and tells the watchers; false when the table is full.
func (e *Kenv) put(name, value string) bool {
	e.mu.Lock()
	if i := e.find(name); i >= 0 {
		e.entries[i].value = value
	} else if len(e.entries) < KenvSize {
		e.entries = append(e.entries, kenvEntry{name, value})
	} else {
		e.mu.Unlock()
		return false
	}
	watch := e.watch
	e.mu.Unlock()
	for _, fn := range watch {
		fn(name, value, true)
	}
	return true
}

// load stores what the loader hands over at boot, where only the whole string
// is bounded. The warning is empty when the pair was stored.
func (e *Kenv) load(name, value string) (warning string) {
	whole := name + "=" + value
	switch {
	case name == "" || strings.Contains(whole, "\x00"):
		return "WARNING: malformed static env value, ignoring " + whole
	case len(whole)+1 > kenvBootLen:
		return "WARNING: too long kenv string, ignoring " + whole
	case !e.put(name, value):
		return "WARNING: too many kenv strings, ignoring " + whole
	}
	return ""
}

// Merge adds "name=value" strings that are not there yet, as the kernel does at boot with
// its static environment and static hints: the first value of a name wins. It
// returns the kernel's warnings for entries it could not take.
func (e *Kenv) Merge(entries []string) (warnings []string) {
	for _, entry := range entries {
		name, value, ok := strings.Cut(entry, "=")
		if !ok {
			warnings = append(warnings, "WARNING: malformed static env value, ignoring "+entry)
			continue
		}
		if _, dup := e.Get(name); dup {
			continue
		}
		if w := e.load(name, value); w != "" {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// Unset removes name (kern_unsetenv); ENOENT when it is not there.
func (e *Kenv) Unset(name string) error {
	e.mu.Lock()
	i := e.find(name)
	if i < 0 {
		e.mu.Unlock()
		return fmt.Errorf("removing kernel environment variable %q: %w", name, syscall.ENOENT)
	}
	e.entries = append(e.entries[:i:i], e.entries[i+1:]...)
	watch := e.watch
	e.mu.Unlock()
	for _, fn := range watch {
		fn(name, "", false)
	}
	return nil
}

// All returns "name=value" strings in list order (kenv -N prints the names).
func (e *Kenv) All() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]string, len(e.entries))
	for i, v := range e.entries {
		all[i] = v.name + "=" + v.value
	}
	return all
}

// observe calls fn after each change, from the goroutine that made it.
func (e *Kenv) observe(fn func(name, value string, set bool)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch = append(e.watch[:len(e.watch):len(e.watch)], fn)
}

// printf writes to the log, if there is one.
func (e *Kenv) printf(format string, a ...any) {
	e.mu.Lock()
	logf := e.logf
	e.mu.Unlock()
	if logf != nil {
		logf(format, a...)
	}
}

// fetch reads name with the single-number parser.
func (e *Kenv) fetch(name string) (int64, bool) {
	text, ok := e.Get(name)
	if !ok {
		return 0, false
	}
	return parseFetch(text)
}

// FetchInt is TUNABLE_INT_FETCH (32 bit): *v keeps its value and the result is false when
// name is absent or is no number. Excess bits are cut off silently (spec ifnet 2.4).
func (e *Kenv) FetchInt(name string, v *int) bool {
	n, ok := e.fetch(name)
	if ok {
		*v = int(int32(n))
	}
	return ok
}

// FetchInt64 is TUNABLE_INT64_FETCH, TUNABLE_LONG_FETCH and TUNABLE_QUAD_FETCH.
func (e *Kenv) FetchInt64(name string, v *int64) bool {
	n, ok := e.fetch(name)
	if ok {
		*v = n
	}
	return ok
}

// FetchUint64 is TUNABLE_UINT64_FETCH and TUNABLE_ULONG_FETCH; -1 becomes the largest number.
func (e *Kenv) FetchUint64(name string, v *uint64) bool {
	n, ok := e.fetch(name)
	if ok {
		*v = uint64(n)
	}
	return ok
}

// FetchBool is TUNABLE_BOOL_FETCH: 1, true, 0 or false in any case. Anything
// else is reported to the log and ignored.
func (e *Kenv) FetchBool(name string, v *bool) bool {
	text, ok := e.Get(name)
	if !ok {
		return false
	}
	switch strings.ToLower(text) {
	case "1", "true":
		*v = true
	case "0", "false":
		*v = false
	default:
		e.printf("Environment variable %s has non-boolean value \"%s\"\n", name, text)
		return false
	}
	return true
}

// FetchString is TUNABLE_STR_FETCH into a buffer of size bytes including the
// NUL: a longer value is cut. size 0 means no bound.
func (e *Kenv) FetchString(name string, v *string, size int) bool {
	text, ok := e.Get(name)
	if !ok {
		return false
	}
	if size > 0 && len(text) >= size {
		text = text[:size-1]
	}
	*v = text
	return true
}
