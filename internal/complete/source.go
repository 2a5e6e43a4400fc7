package complete

import "strings"

// syntaxes are the tools that can be completed.
var syntaxes = map[string]syntax{
	"sysctl":   {args: oids, values: map[byte]source{'B': nil, 'f': files}},
	"kenv":     {args: first(variables)},
	"ifconfig": {args: first(interfaces), values: map[byte]source{'f': nil, 'g': nil, 'G': nil, 'j': nil}},
	"netstat": {values: map[byte]source{'I': interfaces, 'f': words("inet", "inet6", "link"), 'p': words("arp", "icmp", "icmp6", "ip", "ip6"),
		'o': words("json"), 'F': nil, 'q': nil, 'w': nil}},
	"route":  {args: first(words("add", "change", "delete", "flush", "get", "monitor", "show")), values: map[byte]source{'o': words("json")}},
	"arp":    {values: map[byte]source{'i': interfaces, 'o': words("json")}},
	"ndp":    {values: map[byte]source{'i': interfaces, 'o': words("json"), 'f': files, 'd': nil, 'A': nil}},
	"vmstat": {values: map[byte]source{'c': nil, 'w': nil, 'o': words("json")}},
	"pfctl": {values: map[byte]source{'D': nil, 'f': files, 'i': interfaces, 'o': words("json", "lax"),
		'F': words("all", "queue", "rules", "states"), 's': words("Running", "all", "info", "queue", "rules")}},
	"pktgen": {values: map[byte]source{'f': words("tx", "rx", "ping", "pong"), 'i': interfaces, 'o': words("json"),
		'n': nil, 'l': nil, 'b': nil, 'd': nil, 's': nil, 'D': nil, 'S': nil, 'p': nil, 'c': nil, 'T': nil, 'w': nil, 'R': nil, 'F': nil}},
	"tcpdump": {values: map[byte]source{'i': interfaces, 'Q': words("in", "inout", "out"), 'F': files, 'r': files, 'w': files,
		'B': nil, 'c': nil, 's': nil}},
	"devctl":  {args: deviceCommand},
	"devinfo": {values: map[byte]source{'p': deviceNames, 'o': words("json")}},
	"pciconf": {args: first(deviceNames), values: map[byte]source{'o': words("json")}},
	"dump":    {args: deviceNames, values: map[byte]source{'o': words("json")}},
	"top":     {values: map[byte]source{'I': deviceNames, 'd': nil, 'n': nil, 'o': words("json")}},
}

// words offers words that do not change.
func words(list ...string) source {
	return func(Ask, []string, string) Choice { return Choice{Words: append([]string(nil), list...)} }
}

func files(Ask, []string, string) Choice { return Choice{Files: true} }

// first completes the first argument only.
func first(s source) source {
	return func(ask Ask, args []string, word string) Choice {
		if len(args) > 0 {
			return Choice{}
		}
		return s(ask, args, word)
	}
}

// interfaces offers the names of the machine's interfaces.
func interfaces(ask Ask, _ []string, _ string) (c Choice) {
	for _, line := range ask("ifconfig", "-l") {
		c.Words = append(c.Words, strings.Fields(line)...)
	}
	return c
}

func variables(ask Ask, _ []string, _ string) Choice { return Choice{Words: ask("kenv", "-N")} }

// oids offers names of variables as far as the next dot; a node's is not offered without it.
func oids(ask Ask, _ []string, word string) (c Choice) {
	at := strings.LastIndexByte(word, '.') + 1
	where := "-a"
	if at > 0 {
		where = word[:at-1]
	}
	nodes := make(map[string]bool) // names, and whether something is below
	for _, name := range ask("sysctl", "-N", where) {
		if strings.HasPrefix(name, word) {
			part, _, below := strings.Cut(name[at:], ".")
			nodes[part] = nodes[part] || below
		}
	}
	for part, below := range nodes {
		name := word[:at] + part
		if below {
			name, c.Open = name+".", true
		}
		c.Words = append(c.Words, name)
	}
	return c
}

// deviceCommand is a verb of devctl, and the device that it is for.
func deviceCommand(ask Ask, args []string, _ string) Choice {
	switch len(args) {
	case 0:
		return Choice{Words: []string{"attach", "detach", "disable", "enable", "resume", "suspend"}}
	case 1:
		return Choice{Words: devices(ask)}
	}
	return Choice{}
}

func deviceNames(ask Ask, _ []string, _ string) Choice { return Choice{Words: devices(ask)} }

// devices are the names of NICs: those that are attached, which have a description, and
// those that hints describe, attached or not.
func devices(ask Ask) (names []string) {
	const hint, device = "hint.", "dev."
	for _, name := range ask("kenv", "-hN") {
		names = append(names, unit(name, hint, ".port")...)
	}
	for _, name := range ask("sysctl", "-N", "dev") {
		names = append(names, unit(name, device, ".%desc")...)
	}
	return names
}

// unit is the device of a variable PREFIX DRIVER.UNIT SUFFIX, none if it is another's.
func unit(name, prefix, suffix string) []string {
	name, ok := strings.CutPrefix(name, prefix)
	name, end := strings.CutSuffix(name, suffix)
	driver, number, dot := strings.Cut(name, ".")
	if !ok || !end || !dot || strings.Contains(number, ".") {
		return nil
	}
	return []string{driver + number}
}
