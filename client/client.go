package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/internal/ctl/sockpath"
)

// A client that the machine has no place for comes back after a while, for as long as
// againTime.
const (
	againPause = 50 * time.Millisecond
	againTime  = 10 * time.Second
)

// ErrNoMachine is a socket that nobody listens to.
var ErrNoMachine = errors.New("no machine runs")

// Client asks one machine. Any goroutine, several at a time; Dir is not changed then.
type Client struct {
	path string

	// Dir is where tools look for files that are named without a directory, as those of
	// pfctl -f. New sets the working directory, or "" if there is none: then files are
	// named with theirs.
	Dir string
}

// New makes a client of the machine whose control socket is at path. "" is the socket that
// ifsim takes: $IFSIM_SOCK, else ifsim.sock in $XDG_RUNTIME_DIR, else a file of the user's
// own among the temporary files; it is an error if that place is somebody else's. Nobody is
// asked yet: whether a machine runs there shows with the first request.
func New(path string) (*Client, error) {
	if path == "" {
		var err error
		if path, err = sockpath.Default(); err != nil {
			return nil, fmt.Errorf("finding the control socket: %w", err)
		}
	}
	// Without a working directory only absolute names can be given.
	dir, _ := os.Getwd()
	return &Client{path: path, Dir: dir}, nil
}

// Path is where the machine's control socket is.
func (c *Client) Path() string { return c.path }

// Do sends a request and waits for its reply, which may take as long as what is asked for.
// For up to 10 seconds it tries again while the machine is busy with others. When ctx ends
// the connection does, and with it what the machine does for it; the error is ctx's then.
// Else errors are those of the way to the machine, ErrNoMachine one of them; what the
// machine itself says is in the reply.
func (c *Client) Do(ctx context.Context, req Request) (Reply, error) {
	reply, err := converse(ctx, c.path, req)
	for end := time.Now().Add(againTime); err == nil && reply.Again && time.Now().Before(end); {
		select {
		case <-time.After(againPause):
			reply, err = converse(ctx, c.path, req)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	switch {
	case ctx.Err() != nil:
		return reply, ctx.Err()
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return reply, fmt.Errorf("%w at %s; ifsim boot DIR starts one", ErrNoMachine, c.path)
	case err != nil:
		return reply, fmt.Errorf("control socket %s: %w", c.path, err)
	}
	return reply, nil
}
