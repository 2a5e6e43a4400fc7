package bench

import "github.com/prometheus/procfs"

// cpuModel is the host's CPU as /proc/cpuinfo names it.
func cpuModel() string {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return "unknown"
	}
	cpus, err := fs.CPUInfo()
	if err != nil || len(cpus) == 0 || cpus[0].ModelName == "" {
		return "unknown"
	}
	return cpus[0].ModelName
}
