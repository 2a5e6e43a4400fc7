package metrics

import (
	"runtime/debug"
	"strconv"
)

var (
	machineInfo = gauge("machine_info", unitOne, "The machine and the ifsim that runs it.", "uname(1)",
		"hostname", "ostype", "release", "version")
	machineUptime = gauge("machine_uptime_seconds", unitSeconds, "Time since the machine booted, by its own clock.", "kern.boottime")
	cpuBusy       = counter("cpu_busy_seconds", unitSeconds, "Time that a CPU has run tasks, interrupts and callouts; senders are threads and not in it.",
		"kern.cp_times", "cpu")
	controlClients = gauge("control_clients", unitCount, "Clients that the control socket serves.", "none")
)

func machineFamilies() []family {
	return []family{machineInfo, machineUptime, cpuBusy, controlClients}
}

func (s *scrape) machine() {
	hostname, _ := s.Machine.RC().Get("hostname")
	s.put(machineInfo, 1, hostname, s.text("kern.ostype"), s.text("kern.osrelease"), version())
	s.put(machineUptime, s.k.Uptime().Seconds())
	for cpu := range s.k.NCPU() {
		busy, _ := s.k.CPUBusy(cpu)
		s.put(cpuBusy, busy.Seconds(), strconv.Itoa(cpu))
	}
	if s.Clients != nil {
		s.put(controlClients, float64(s.Clients()))
	}
}

// text is a variable that every machine has.
func (s *scrape) text(oid string) string {
	text, err := s.k.Sysctl.Text(oid)
	if err != nil {
		return ""
	}
	return text
}

// version is that of the module that the program was built of.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}
