package ctl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl/pktgen8"
	"github.com/ifsim/ifsim/internal/machine"
)

const (
	// requestTime is how long a client may take to send its request, and to take the reply.
	requestTime = 5 * time.Second
	replyTime   = 10 * time.Second
	// refusalTime is how long a refusal may take that the socket has room for.
	refusalTime = time.Second
	// acceptPause is the wait after a failed accept: no descriptors, for example.
	acceptPause = 10 * time.Millisecond
)

// Server serves a machine's control socket.
type Server struct {
	m      *machine.Machine
	ln     net.Listener
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	door   *door
	wg     sync.WaitGroup

	held   atomic.Int64 // bytes of output that clients have not taken yet
	pktgen *pktgen8.Pktgen
}

// Serve serves clients of the machine in goroutines of its own until Close. The
// listener is the server's from then on.
func Serve(ln net.Listener, m *machine.Machine) *Server {
	s := &Server{m: m, ln: ln, door: newDoor(), pktgen: pktgen8.New(m)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.accept)
	return s
}

// Close stops what clients have running, ends every goroutine of the server and
// removes the socket. A second Close does nothing.
func (s *Server) Close() error {
	if !s.door.close() {
		return nil
	}
	s.cancel()
	err := s.ln.Close()
	s.wg.Wait()
	if err != nil {
		return fmt.Errorf("closing the control socket: %w", err)
	}
	return nil
}

// accept takes clients until the listener is closed. Those for whom there is no place at
// once wait here, one at a time, and behind them in the listener.
func (s *Server) accept() {
	for {
		conn, err := s.ln.Accept()
		switch {
		case err == nil:
			s.letIn(conn)
			continue
		case s.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		}
		select {
		case <-time.After(acceptPause):
		case <-s.ctx.Done():
		}
	}
}

// letIn serves a client in a goroutine of its own, or tells it why not.
func (s *Server) letIn(conn net.Conn) {
	c := &guest{conn: conn}
	err := checkPeer(conn)
	if err == nil {
		c, err = s.door.enter(s.ctx, conn)
	}
	if err != nil {
		refuse(conn, err)
		conn.Close()
		return
	}
	s.wg.Go(func() {
		defer s.door.leave(c)
		s.serve(c)
	})
}

// refuse tells a client that was sent nothing before why it is not served. That fits into
// the socket, so nobody waits for it.
func refuse(conn net.Conn, err error) {
	if conn.SetWriteDeadline(time.Now().Add(refusalTime)) == nil {
		again := errors.Is(err, errBusy) || errors.Is(err, errSilent)
		_, _ = conn.Write(encode(Reply{Error: err.Error(), Exit: 1, Again: again}))
	}
}

// serve answers one request.
func (s *Server) serve(c *guest) {
	if !s.door.await(c, c.conn.SetReadDeadline, requestTime) {
		return
	}
	line, err := readLine(c.conn)
	if !s.door.heard(c) {
		refuse(c.conn, errSilent)
		return
	}
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return // somebody looked whether a machine runs
	}
	reply := Reply{Exit: 1}
	if err == nil || errors.Is(err, io.EOF) {
		reply = s.answer(c, line)
	} else {
		reply.Error = readError(err)
	}
	// A client that does not take its reply has lost it.
	_ = s.send(c, reply)
	s.held.Add(-int64(len(reply.Stdout) + len(reply.Stderr)))
}

// send writes a reply.
func (s *Server) send(c *guest, reply Reply) error {
	text := encode(reply)
	if !s.door.await(c, c.conn.SetWriteDeadline, replyTime) {
		return errSilent
	}
	_, err := c.conn.Write(text)
	s.door.heard(c)
	return err
}

// encode is a reply as a line.
func encode(reply Reply) []byte {
	reply.Version = client.Version
	text, err := json.Marshal(reply)
	if err != nil {
		text = fmt.Appendf(nil, `{"version":%d,"error":"the reply cannot be encoded","exit":1}`, client.Version)
	}
	return append(text, '\n')
}

// readLine reads a request, without its newline. io.EOF: the client ended it otherwise.
func readLine(conn net.Conn) ([]byte, error) {
	r := bufio.NewReaderSize(conn, client.MaxRequest)
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, client.ErrTooLong
	}
	if err == nil {
		line = line[:len(line)-1]
	}
	return line, err
}

// readError is what a client is told of a request that could not be read.
func readError(err error) string {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Sprintf("no request within %v", requestTime)
	}
	return err.Error()
}

// answer carries a request out. It is stopped, as far as it can be, when the client
// goes away.
func (s *Server) answer(c *guest, line []byte) Reply {
	req, err := decode(line)
	if err != nil {
		return Reply{Error: err.Error(), Exit: 1}
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	watched := s.watch(c.conn, cancel)
	reply := s.do(ctx, req, func(part Reply) {
		if s.send(c, part) != nil {
			cancel()
		}
	})
	// Ends the watch; if that fails, the connection has failed and the watch with it.
	_ = c.conn.SetReadDeadline(time.Unix(0, 1))
	<-watched
	return reply
}

// watch calls gone when the client closes the connection, or its half of it: a UNIX
// socket does not tell them apart. The result is closed when the watch has ended.
func (s *Server) watch(conn net.Conn, gone func()) <-chan struct{} {
	done := make(chan struct{})
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		close(done)
		return done
	}
	s.wg.Go(func() {
		defer close(done)
		var b [1]byte
		for {
			if _, err := conn.Read(b[:]); err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					gone()
				}
				return
			}
		}
	})
	return done
}
