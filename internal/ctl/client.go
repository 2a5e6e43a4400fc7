package ctl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"
)

// maxReply is the longest reply in bytes: both outputs in base64, and a little more.
const maxReply = 3 * maxOutput

// A client that the machine has no place for comes back after a while, for as long as
// againTime.
const (
	againPause = 50 * time.Millisecond
	againTime  = 10 * time.Second
)

// Do sends a request to the machine at path and waits for its reply, which may take as
// long as what is asked for; it tries again while the machine is busy with others. When ctx ends the connection does, and with it what the
// machine does for it. A failure that the machine reports is in the reply.
func Do(ctx context.Context, path string, req Request) (Reply, error) {
	reply, err := do(ctx, path, req)
	for end := time.Now().Add(againTime); err == nil && reply.Again && time.Now().Before(end); {
		select {
		case <-time.After(againPause):
			reply, err = do(ctx, path, req)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	switch {
	case ctx.Err() != nil:
		return reply, ctx.Err()
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return reply, fmt.Errorf("no machine runs at %s; ifsim boot DIR starts one", path)
	case err != nil:
		return reply, fmt.Errorf("control socket %s: %w", path, err)
	}
	return reply, nil
}

func do(ctx context.Context, path string, req Request) (reply Reply, err error) {
	req.Version = Version
	text, err := json.Marshal(req)
	if err != nil {
		return reply, err
	}
	if len(text) >= MaxRequest {
		return reply, errTooLong
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return reply, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetWriteDeadline(time.Now().Add(requestTime)); err != nil {
		return reply, err
	}
	replies := bufio.NewReader(conn)
	if _, err := conn.Write(append(text, '\n')); err != nil {
		// Whoever is refused may have been told why.
		if refusal, rerr := receive(replies); rerr == nil && refusal.Error != "" {
			return refusal, nil
		}
		return reply, err
	}
	for {
		reply, err = receive(replies)
		if err != nil || !reply.More {
			return reply, err
		}
		if req.Partial != nil {
			req.Partial(reply)
		}
	}
}

// receive reads one reply.
func receive(from *bufio.Reader) (reply Reply, err error) {
	var line []byte
	for more := true; more && err == nil; {
		var part []byte
		part, err = from.ReadSlice('\n')
		if more = errors.Is(err, bufio.ErrBufferFull); more {
			err = nil
		}
		if line = append(line, part...); len(line) > maxReply {
			return reply, fmt.Errorf("reply longer than %d bytes", maxReply)
		}
	}
	if errors.Is(err, io.EOF) {
		return reply, errors.New("the machine went away before it answered")
	}
	if err != nil {
		return reply, err
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return reply, fmt.Errorf("reply is not understood: %w", err)
	}
	if reply.Version != Version {
		return reply, fmt.Errorf("the machine speaks version %d of the protocol, not %d", reply.Version, Version)
	}
	return reply, nil
}
