package boot_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/cmd/ifsim/boot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// console is what a machine prints.
type console struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// options are of a machine with two NICs that are wired to each other, with a queue in use.
func options(t *testing.T) (boot.Options, *console) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"boot/device.hints": "hint.em.0.port=\"pair:t\"\nhint.em.1.port=\"pair:t\"\nhint.ifsim.0.ncpu=\"2\"\nhw.physmem=\"64M\"\n",
		"etc/rc.conf":       "ifconfig_em0=\"up\"\nifconfig_em1=\"up\"\n",
	} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	run, err := os.MkdirTemp("", "ifsim") // the path of a socket must be short
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(run) })
	c := &console{}
	return boot.Options{Dir: dir, Socket: filepath.Join(run, "s"), Console: c}, c
}

// get is what a scraper gets.
func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return string(text)
}

func TestMetricsAreWhatTheToolsShow(t *testing.T) {
	o, console := options(t)
	o.Metrics = "127.0.0.1:0"
	m, err := boot.Start(o)
	must(t, err)
	defer func() {
		http.DefaultClient.CloseIdleConnections()
		must(t, m.Close())
	}()
	url := regexp.MustCompile(`(?m)^metrics: (http://127\.0\.0\.1:\d+/metrics)$`).FindStringSubmatch(console.String())
	if url == nil {
		t.Fatalf("the console does not say where the metrics are:\n%s", console)
	}
	c, err := client.New(m.Socket())
	must(t, err)
	const frames, size = 1000, 200
	sent, err := c.Pktgen(t.Context(), client.PktgenParams{Interface: "em0", Frames: frames, Size: size})
	if err != nil || sent.Frames != frames {
		t.Fatalf("%+v, %v", sent, err)
	}
	text := get(t, url[1])
	row, err := c.Run(t.Context(), "netstat", "-I", "em0", "-bdn", "-f", "link")
	must(t, err)
	lines := strings.Split(string(row.Stdout), "\n")
	netstat := make(map[string]string)
	values := strings.Fields(lines[1])
	for i, name := range strings.Fields(lines[0]) {
		netstat[name] = values[i]
	}
	for metric, want := range map[string]string{
		`ifsim_interface_transmit_packets_total{interface="em0"}`:                   netstat["Opkts"],
		`ifsim_interface_transmit_bytes_total{interface="em0"}`:                     netstat["Obytes"],
		`ifsim_interface_transmit_errors_total{interface="em0"}`:                    netstat["Oerrs"],
		`ifsim_interface_transmit_drops_total{interface="em0"}`:                     netstat["Drop"],
		`ifsim_interface_receive_packets_total{interface="em0"}`:                    netstat["Ipkts"],
		`ifsim_interface_mtu_bytes{interface="em0"}`:                                netstat["Mtu"],
		`ifsim_transmit_queue_ring_enqueues_total{interface="em0",queue="0"}`:       sysctl(t, c, "dev.em.0.iflib.txq0.r_enqueues"),
		`ifsim_transmit_queue_producer_index{interface="em0",queue="0"}`:            sysctl(t, c, "dev.em.0.iflib.txq0.txq_pidx"),
		`ifsim_transmit_queue_cleaned_descriptors_total{interface="em0",queue="0"}`: sysctl(t, c, "dev.em.0.iflib.txq0.txq_cleaned"),
	} {
		if !strings.Contains(text, fmt.Sprintf("\n%s %s\n", metric, want)) || want == "" {
			t.Errorf("%s is not %q", metric, want)
		}
	}
	if netstat["Opkts"] != fmt.Sprint(frames) || netstat["Obytes"] != fmt.Sprint(frames*size) {
		t.Errorf("netstat: %v", netstat)
	}
}

func sysctl(t *testing.T, c *client.Client, name string) string {
	t.Helper()
	v, err := c.Sysctl(t.Context(), name)
	must(t, err)
	return v
}

func TestAMachineDoesNotBootWithoutAPlaceForItsMetrics(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	for _, c := range []struct {
		addr   string
		public bool
		want   string
	}{
		{":0", false, `metrics on ":0": other hosts could read them; 127.0.0.1:0 is for this host, --metrics-public lets others in`},
		{"192.0.2.1:9180", false, `metrics on "192.0.2.1:9180": other hosts could read them; 127.0.0.1:9180 is for this host, --metrics-public lets others in`},
		{"9180", false, `metrics on "9180": address 9180: missing port in address`},
		{taken.Addr().String(), false, "address already in use"},
		{"", true, "--metrics-public without --metrics"},
	} {
		o, console := options(t)
		o.Metrics, o.MetricsPublic = c.addr, c.public
		m, err := boot.Start(o)
		if err == nil {
			must(t, m.Close())
		}
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || console.String() != "" {
			t.Errorf("%q: %v, want %s; console %q", c.addr, err, c.want, console)
		}
		if _, err := os.Stat(o.Socket); !os.IsNotExist(err) {
			t.Errorf("%q: the control socket is still there: %v", c.addr, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
