// Package sockpath is where the control socket of a machine is, for those who listen and
// for those who connect.
package sockpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Names of the socket, and the environment variable that has its path.
const (
	envPath       = "IFSIM_SOCK"
	envRuntime    = "XDG_RUNTIME_DIR"
	runtimeSocket = "ifsim.sock"
	tempSocket    = "ctl.sock"
	dirMode       = 0o700
)

// Default is where the control socket is: $IFSIM_SOCK, else ifsim.sock in
// $XDG_RUNTIME_DIR, else ctl.sock in the user's own directory among the temporary files.
// It is an error if that directory is somebody else's.
func Default() (string, error) {
	if path := os.Getenv(envPath); path != "" {
		return path, nil
	}
	if dir := os.Getenv(envRuntime); dir != "" {
		return filepath.Join(dir, runtimeSocket), nil
	}
	dir := tempDir()
	if err := checkOwn(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return filepath.Join(dir, tempSocket), nil
}

// Prepare makes the user's directory among the temporary files if path lies in it. It is
// an error if that directory is somebody else's.
func Prepare(path string) error {
	dir := tempDir()
	if filepath.Dir(path) != dir {
		return nil
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the control socket's directory: %w", err)
	}
	return checkOwn(dir)
}

// tempDir is the user's directory among the temporary files.
func tempDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("ifsim-%d", os.Getuid()))
}

// checkOwn checks that dir is a directory that its user alone may use.
func checkOwn(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(st.Uid) != os.Getuid() || info.Mode().Perm() != dirMode {
		return fmt.Errorf("%s is not a directory of this user with mode 0700: give the control socket another place with -S", dir)
	}
	return nil
}
