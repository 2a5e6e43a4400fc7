package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

// Source is what is measured.
type Source struct {
	Machine *machine.Machine
	// Clients is how many clients the control socket serves; nil without a socket.
	Clients func() int
}

// Collector reads a machine when it is scraped; it keeps nothing but descriptions. Several
// goroutines may scrape at a time, until the machine is closed.
type Collector struct {
	src   Source
	descs map[string]*prometheus.Desc // by name without namespace; constant
}

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector makes a collector of a machine, for a registry.
func NewCollector(src Source) *Collector {
	c := &Collector{src: src, descs: make(map[string]*prometheus.Desc)}
	for _, f := range families() {
		c.descs[f.name] = prometheus.NewDesc(namespace+f.name, f.help, f.labels, nil)
	}
	return c
}

// Describe is of [prometheus.Collector].
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		descs <- d
	}
}

// Collect is of [prometheus.Collector].
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	s := &scrape{Source: c.src, k: c.src.Machine.Kernel(), descs: c.descs, metrics: metrics, seen: make(map[string]bool)}
	s.machine()
	s.interfaces()
	s.devices()
	s.mbufs()
	s.interrupts()
	s.altq()
	s.locks()
}

// scrape is one look at a machine.
type scrape struct {
	Source
	k       *kern.Kernel
	descs   map[string]*prometheus.Desc
	metrics chan<- prometheus.Metric
	seen    map[string]bool // what has been put, by name and labels
}

// put shows a value. While names change a machine may have two of one; the first counts.
func (s *scrape) put(f family, value float64, labels ...string) {
	for i, l := range labels {
		labels[i] = strings.ToValidUTF8(l, "\ufffd")
	}
	key := f.name + "\xff" + strings.Join(labels, "\xff") // no byte of UTF-8
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	m, err := prometheus.NewConstMetric(s.descs[f.name], f.kind, value, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(s.descs[f.name], err)
	}
	s.metrics <- m
}

// truth is a condition as a value.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
