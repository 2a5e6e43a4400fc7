package packet

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

const namedNamespaces = "/run/netns/" // where ip-netns(8) keeps them

// inNamespace runs fn on a thread in the network namespace ns, "" for the caller's. What
// fn opens stays in that namespace. The thread ends with fn: its goroutine never unlocks it.
func inNamespace(ns string, fn func() error) error {
	if ns == "" {
		return fn()
	}
	path := ns
	if !strings.Contains(ns, "/") {
		path = namedNamespaces + ns
	}
	var st unix.Statfs_t // opening what is no namespace could do anything
	switch err := unix.Statfs(path, &st); {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("no namespace %s: %w", path, err)
	case err != nil:
		return fmt.Errorf("namespace %s: %w", path, err)
	case st.Type != unix.NSFS_MAGIC:
		return namespaceError(ns, unix.EINVAL)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("namespace: %w", err)
	}
	defer f.Close()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- namespaceError(ns, err)
			return
		}
		done <- fn()
	}()
	return <-done
}

func namespaceError(ns string, err error) error {
	switch {
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("namespace %s needs CAP_SYS_ADMIN: %w", ns, err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%s is not a network namespace: %w", ns, err)
	}
	return fmt.Errorf("entering namespace %s: %w", ns, err)
}
