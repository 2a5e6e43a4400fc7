package metrics

import "github.com/prometheus/client_golang/prometheus"

// namespace begins the name of every metric.
const namespace = "ifsim_"

// family is a metric with all its labels' values.
type family struct {
	name   string // without namespace
	kind   prometheus.ValueType
	unit   string // of the value; packets and the like
	help   string
	source string // what it is in FreeBSD, or the variable that has it
	labels []string
}

// counter describes a number that only grows, but for a reset.
func counter(name, unit, help, source string, labels ...string) family {
	return family{name: name + "_total", kind: prometheus.CounterValue, unit: unit, help: help, source: source, labels: labels}
}

// gauge describes a number that goes up and down.
func gauge(name, unit, help, source string, labels ...string) family {
	return family{name: name, kind: prometheus.GaugeValue, unit: unit, help: help, source: source, labels: labels}
}

// typ is the family's type in Prometheus' words.
func (f family) typ() string {
	if f.kind == prometheus.CounterValue {
		return "counter"
	}
	return "gauge"
}

// reading is a family whose value is read off a T.
type reading[T any] struct {
	family
	read func(v T) float64
}

// familiesOf are the families of readings.
func familiesOf[T any](list []reading[T]) []family {
	all := make([]family, len(list))
	for i, r := range list {
		all[i] = r.family
	}
	return all
}

// show shows what readings read off v.
func show[T any](s *scrape, list []reading[T], v T, labels ...string) {
	for _, r := range list {
		s.put(r.family, r.read(v), labels...)
	}
}

// Units of values.
const (
	unitBytes          = "bytes"
	unitBytesPerSecond = "bytes per second"
	unitCount          = "number"
	unitDescriptors    = "descriptors"
	unitIndex          = "index"
	unitItems          = "items"
	unitOne            = "1"
	unitPackets        = "packets"
	unitSeconds        = "seconds"
	unitTimes          = "times"
	unitTruth          = "0 or 1"
)

// Labels that many families have.
const (
	labelInterface = "interface" // the interface's present name
	labelQueue     = "queue"
)

// families are all families, in the order of the document.
func families() []family {
	var all []family
	for _, part := range [][]family{
		machineFamilies(), interfaceFamilies(), deviceFamilies(), txqFamilies(), rxqFamilies(), ledgerFamilies(),
		mbufFamilies(), interruptFamilies(), altqFamilies(), lockFamilies(),
	} {
		all = append(all, part...)
	}
	return all
}
