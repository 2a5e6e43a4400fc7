package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// maxReply is the longest reply in bytes: both outputs in base64, and a little more.
const maxReply = 3 * MaxOutput

// sendTime is how long the machine may take to take a request.
const sendTime = 5 * time.Second

// converse has one conversation: a connection, a request, its replies.
func converse(ctx context.Context, path string, req Request) (reply Reply, err error) {
	req.Version = Version
	text, err := json.Marshal(req)
	if err != nil {
		return reply, err
	}
	if len(text) >= MaxRequest {
		return reply, ErrTooLong
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return reply, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
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
	if half, ok := conn.(*net.UnixConn); ok && req.Stop != nil {
		done := make(chan struct{})
		defer close(done)
		go stopWith(half, req.Stop, done)
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

// stopWith closes the sending half of a connection when stop is closed, which tells the
// machine to end what runs, unless the conversation is done before.
func stopWith(conn *net.UnixConn, stop, done <-chan struct{}) {
	select {
	case <-stop:
		_ = conn.CloseWrite() // a failure shows in the next read
	case <-done:
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
