package bench

import (
	"encoding/json"
	"io"
	"runtime"
	"time"
)

// MachineInfo says where a result comes from.
type MachineInfo struct {
	CPU        string        `json:"cpu"`
	CPUs       int           `json:"cpus"`
	Go         string        `json:"go"`
	GOMAXPROCS int           `json:"gomaxprocs"`
	Driver     string        `json:"driver"`
	Engine     string        `json:"engine"`
	MMIONs     int           `json:"mmio_ns"`
	Lock       string        `json:"lock"`
	Runs       int           `json:"runs"`
	Duration   time.Duration `json:"duration_ns"`
	Packet     string        `json:"packet"`
}

func machineInfo(o *Options, procs int, packet string) MachineInfo {
	return MachineInfo{
		CPU: cpuModel(), CPUs: runtime.NumCPU(), Go: runtime.Version(), GOMAXPROCS: procs,
		Driver: o.Driver, Engine: orDefault(o.Engine, "inline"), MMIONs: o.MMIONs, Lock: orDefault(o.Lock, "mutex"),
		Runs: o.Runs, Duration: o.Duration, Packet: packet,
	}
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// writeJSON writes a result as one JSON object.
func writeJSON(w io.Writer, result any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(result)
}
