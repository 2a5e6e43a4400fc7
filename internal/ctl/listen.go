package ctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/internal/ctl/sockpath"
)

const (
	socketMode = 0o600
	// maxPath is the longest path of a UNIX socket (sizeof sun_path less the NUL).
	maxPath = 107
	// probeTime is how long a socket that is there may take to answer.
	probeTime = 2 * time.Second
)

// Listen makes the control socket. A socket that nobody listens to any more is
// replaced; one that is in use, and anything else of that name, is left alone and an
// error. Connections wait until Serve.
func Listen(path string) (net.Listener, error) {
	ln, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	return ln, nil
}

func listen(path string) (net.Listener, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("path of %d bytes, at most %d", len(path), maxPath)
	}
	if err := sockpath.Prepare(path); err != nil {
		return nil, err
	}
	unlock, err := lockDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeStale(path); err != nil {
		return nil, err
	}
	// The mode that a socket has before it is bound is that of its file, less the umask.
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if cerr := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), socketMode) }); cerr != nil {
			return cerr
		}
		return err
	}}
	return lc.Listen(context.Background(), "unix", path)
}

// lockDir keeps two machines that start at a time from taking each other's socket for
// a stale one.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, errors.Join(err, f.Close()))
	}
	// Closing gives the lock up, and cannot fail in a way that matters.
	return func() { _ = f.Close() }, nil
}

// removeStale removes a socket that nobody listens to.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("there is something that is not a socket")
	}
	conn, err := net.DialTimeout("unix", path, probeTime)
	if err == nil {
		conn.Close()
		return fmt.Errorf("a machine runs there already: %w", syscall.EADDRINUSE)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}
