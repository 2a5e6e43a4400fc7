// Package metrics shows a running machine to Prometheus: interfaces, queues and their rings,
// mbufs, interrupts, CPUs, ALTQ's queues, accounts. docs/metrics.md has the list; FreeBSD's
// counterparts are sysctl(8), netstat(1), vmstat(8) and pfctl(8), whose numbers they are,
// and prometheus_sysctl_exporter(8).
//
//	ln, err := metrics.Listen("127.0.0.1:9180", metrics.Loopback)
//	m, err := machine.Boot(cfg)
//	s := metrics.Serve(ln, metrics.Source{Machine: m})
//	defer s.Close() // before the machine
//
// There is no state here and nothing is counted for it: a [Collector] reads the machine
// while it is scraped. It writes nothing until all has been read, so a scraper that is slow
// holds no lock of the machine.
package metrics
