package metrics

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
)

// Path is where the metrics are.
const Path = "/metrics"

// Bounds of what scrapers may do.
const (
	maxConns   = 16      // further ones wait in the listener
	maxScrapes = 4       // further ones are told so, 503
	maxHeader  = 8 << 10 // bytes
	readTime   = 5 * time.Second
	writeTime  = 10 * time.Second
	idleTime   = 30 * time.Second
)

// Server serves a machine's metrics to Prometheus, and to whoever can read text.
type Server struct {
	addr  net.Addr
	http  *http.Server
	done  chan error     // how serving ended
	conns sync.WaitGroup // each has a goroutine
}

// Serve serves metrics in goroutines of its own until Close. The listener is the server's
// from then on.
func Serve(ln net.Listener, src Source) *Server {
	reg := prometheus.NewRegistry()
	reg.MustRegister(NewCollector(src))
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes,
	}))
	s := &Server{addr: ln.Addr(), done: make(chan error, 1)}
	s.http = &http.Server{
		Handler: mux, ConnState: s.count, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
		ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
	}
	go func() { s.done <- s.http.Serve(netutil.LimitListener(ln, maxConns)) }()
	return s
}

// URL is where the metrics are.
func (s *Server) URL() string { return "http://" + s.addr.String() + Path }

// count keeps the number of connections.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed:
		s.conns.Done()
	}
}

// Close ends connections and waits for the scrapes under way; nobody reads the machine
// afterwards. Once.
func (s *Server) Close() error {
	err := s.http.Close()
	if end := <-s.done; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	// A connection that was accepted meanwhile has escaped the first.
	err = errors.Join(err, s.http.Close())
	s.conns.Wait()
	if err != nil {
		return fmt.Errorf("closing the metrics' server: %w", err)
	}
	return nil
}
