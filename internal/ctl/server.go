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
	"time"

	"github.com/ifsim/ifsim/internal/machine"
)

const (
	// requestTime is how long a client may take to send its request, and to take the reply.
	requestTime = 5 * time.Second
	replyTime   = 10 * time.Second
	// acceptPause is the wait after a failed accept: no descriptors, for example.
	acceptPause = 10 * time.Millisecond
	// maxClients are served at a time; more wait.
	maxClients = 32
)

// Server serves a machine's control socket.
type Server struct {
	m      *machine.Machine
	ln     net.Listener
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	slots  chan struct{} // one for each client that is served
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil once closed

	sending sendingSet
}

// Serve serves clients of the machine in goroutines of its own until Close. The
// listener is the server's from then on.
func Serve(ln net.Listener, m *machine.Machine) *Server {
	s := &Server{m: m, ln: ln, slots: make(chan struct{}, maxClients), conns: make(map[net.Conn]struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.accept)
	return s
}

// Close stops what clients have running, ends every goroutine of the server and
// removes the socket. A second Close does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	if conns == nil {
		return nil
	}
	s.cancel()
	err := s.ln.Close()
	for c := range conns {
		c.Close()
	}
	s.wg.Wait()
	if err != nil {
		return fmt.Errorf("closing the control socket: %w", err)
	}
	return nil
}

// accept takes clients until the listener is closed.
func (s *Server) accept() {
	for {
		select {
		case s.slots <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		conn, err := s.ln.Accept()
		switch {
		case err == nil && s.track(conn):
			s.wg.Go(func() {
				defer func() { <-s.slots }()
				defer s.untrack(conn)
				s.serve(conn)
			})
			continue
		case s.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		}
		<-s.slots
		select {
		case <-time.After(acceptPause):
		case <-s.ctx.Done():
		}
	}
}

// track enters a connection; one that comes after Close is closed.
func (s *Server) track(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		c.Close()
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) untrack(c net.Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	c.Close()
}

// serve answers one request.
func (s *Server) serve(conn net.Conn) {
	line, err := readLine(conn)
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return // somebody looked whether a machine runs
	}
	var reply Reply
	if err == nil || errors.Is(err, io.EOF) {
		reply = s.answer(conn, line)
	} else {
		reply.Error = readError(err)
	}
	send(conn, reply)
}

// send writes a reply. A client that does not take it has lost it.
func send(conn net.Conn, reply Reply) {
	text, err := json.Marshal(reply)
	if err != nil {
		text = []byte(`{"error":"the reply cannot be encoded","exit":1}`)
	}
	if conn.SetWriteDeadline(time.Now().Add(replyTime)) == nil {
		_, _ = conn.Write(append(text, '\n'))
	}
}

// readLine reads a request, without its newline. io.EOF: the client ended it otherwise.
func readLine(conn net.Conn) ([]byte, error) {
	if err := conn.SetReadDeadline(time.Now().Add(requestTime)); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(conn, MaxRequest)
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errTooLong
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
func (s *Server) answer(conn net.Conn, line []byte) Reply {
	req, err := decode(line)
	if err != nil {
		return Reply{Error: err.Error(), Exit: 1}
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	watched := s.watch(conn, cancel)
	reply := s.do(ctx, req, func(part Reply) { send(conn, part) })
	// Ends the watch; if that fails, the connection has failed and the watch with it.
	_ = conn.SetReadDeadline(time.Unix(0, 1))
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
