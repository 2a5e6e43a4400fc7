package metrics_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ifsim/ifsim/internal/metrics"
)

func TestOthersAreKeptOutUnlessTheyAreLetIn(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:9180", "[::]:9180", "192.0.2.1:9180", "255.255.255.255:9180"} {
		ln, err := metrics.Listen(addr, metrics.Loopback)
		if err == nil {
			ln.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "other hosts could read them; 127.0.0.1:") || !strings.Contains(err.Error(), "--metrics-public") {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "127.9.9.9:0", "localhost:0"} {
		ln, err := metrics.Listen(addr, metrics.Loopback)
		must(t, err)
		must(t, ln.Close())
	}
	ln, err := metrics.Listen(":0", metrics.Public)
	must(t, err)
	must(t, ln.Close())
	for _, addr := range []string{"9180", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:x"} {
		if ln, err := metrics.Listen(addr, metrics.Public); err == nil {
			ln.Close()
			t.Errorf("%q was taken", addr)
		}
	}
}

func TestOnlyMetricsAreServed(t *testing.T) {
	s := serve(t, metrics.Source{Machine: boot(t, nil)})
	base := strings.TrimSuffix(s.URL(), metrics.Path)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/metrics", 200}, {"HEAD", "/metrics", 200}, {"POST", "/metrics", 405}, {"GET", "/", 404}, {"GET", "/debug/pprof/", 404}, {"GET", "/metrics/x", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, base+c.path, nil)
		must(t, err)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s %s: %s, want %d", c.method, c.path, resp.Status, c.status)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL(), nil)
	must(t, err)
	req.Header.Set("X", strings.Repeat("x", 64<<10))
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a long header: %s", resp.Status)
	}
}

// dial opens a connection of its own.
func dial(t *testing.T, s *metrics.Server) net.Conn {
	t.Helper()
	host := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), metrics.Path)
	conn, err := net.Dial("tcp", host)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Scrapers that never read what they asked for take neither the machine nor the others.
func TestSlowScrapersHoldNobodyUp(t *testing.T) {
	m := boot(t, small)
	awaitLink(t, m, "em0", "em1")
	s := serve(t, metrics.Source{Machine: m})
	const slow = 8
	for range slow {
		conn := dial(t, s)
		for range 100 { // more answers than the sockets hold
			if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", metrics.Path); err != nil {
				break
			}
		}
	}
	send(t, m, "em1", 100, 60)
	resp, err := http.Get(s.URL())
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s", resp.Status)
	}
}

// The test ends with machine and server closed, and no goroutine left.
func TestCloseEndsWhateverScrapersDo(t *testing.T) {
	m := boot(t, small)
	ln, err := metrics.Listen("127.0.0.1:0", metrics.Loopback)
	must(t, err)
	s := metrics.Serve(ln, metrics.Source{Machine: m})
	idle, half, unread := dial(t, s), dial(t, s), dial(t, s)
	_, err = io.WriteString(half, "GET /metr")
	must(t, err)
	_, err = io.WriteString(unread, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
	must(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				resp, err := http.Get(s.URL())
				if err != nil {
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	if _, err := bufio.NewReader(unread).ReadString('\n'); err != nil {
		t.Error(err)
	}
	must(t, s.Close())
	wg.Wait()
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("a connection is still there")
	}
	http.DefaultClient.CloseIdleConnections()
}

// Devices come and go while scrapers look.
func TestScrapesWhileDevicesComeAndGo(t *testing.T) {
	m := boot(t, small)
	s := serve(t, metrics.Source{Machine: m})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				resp, err := http.Get(s.URL())
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("%s, %v: %.200s", resp.Status, err, text)
					return
				}
			}
		})
	}
	for range 5 {
		must(t, m.Detach("em1"))
		must(t, m.Attach("em1"))
	}
	close(done)
	wg.Wait()
}
