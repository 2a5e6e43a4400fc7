package conf

// kind is what a token is; a character that stands for itself is its own kind.
type kind int

const (
	tokEOF     kind = -iota - 1
	tokString       // STRING: a word that is no keyword, or quoted text
	tokKeyword      // a word that the grammar reserves
	tokNumber       // NUMBER
	tokXRange       // <>
	tokIRange       // ><
	tokArrow        // ->
	tokError        // what the lexer has complained of; the line is lost
)

// token is one word of the text.
type token struct {
	kind kind
	text string // of strings and keywords; digits of numbers
	num  int64
	pos  Pos
	off  int // of its first character in the file that it, or its macro, stands in
}

// is reports whether the token is this keyword.
func (t token) is(keyword string) bool { return t.kind == tokKeyword && t.text == keyword }

// keywords are the words that cannot be names (lookup of parse.y). "codel" is a name
// there, as it is also a flag of the other schedulers.
var keywords = map[string]bool{
	"all": true, "allow-opts": true, "altq": true, "anchor": true, "antispoof": true, "any": true, "bandwidth": true,
	"binat": true, "binat-anchor": true, "bitmask": true, "block": true, "block-policy": true, "bridge-to": true,
	"buckets": true, "cbq": true, "code": true, "codelq": true, "debug": true, "divert-reply": true, "divert-to": true,
	"dnpipe": true, "dnqueue": true, "drop": true, "dup-to": true, "ether": true, "fail-policy": true, "fairq": true,
	"fastroute": true, "file": true, "fingerprints": true, "flags": true, "floating": true, "flush": true, "for": true,
	"fragment": true, "from": true, "global": true, "group": true, "hfsc": true, "hogs": true, "hostid": true,
	"icmp-type": true, "icmp6-type": true, "if-bound": true, "in": true, "include": true, "inet": true, "inet6": true,
	"interval": true, "keep": true, "keepcounters": true, "l3": true, "label": true, "limit": true, "linkshare": true,
	"load": true, "log": true, "loginterface": true, "map-e-portset": true, "match": true, "max": true, "max-mss": true,
	"max-src-conn": true, "max-src-conn-rate": true, "max-src-nodes": true, "max-src-states": true, "min-ttl": true,
	"modulate": true, "nat": true, "nat-anchor": true, "no": true, "no-df": true, "no-route": true, "no-sync": true,
	"on": true, "optimization": true, "os": true, "out": true, "overload": true, "pass": true, "port": true, "prio": true,
	"priority": true, "priq": true, "probability": true, "proto": true, "qlimit": true, "queue": true, "quick": true,
	"random": true, "random-id": true, "rdr": true, "rdr-anchor": true, "realtime": true, "reassemble": true,
	"reply-to": true, "require-order": true, "return": true, "return-icmp": true, "return-icmp6": true,
	"return-rst": true, "ridentifier": true, "round-robin": true, "route": true, "route-to": true, "rtable": true,
	"rule": true, "ruleset-optimization": true, "scrub": true, "set": true, "set-tos": true, "skip": true,
	"sloppy": true, "source-hash": true, "source-track": true, "state": true, "state-defaults": true,
	"state-policy": true, "static-port": true, "sticky-address": true, "syncookies": true, "synproxy": true,
	"table": true, "tag": true, "tagged": true, "target": true, "tbrsize": true, "timeout": true, "to": true,
	"tos": true, "ttl": true, "upperlimit": true, "urpf-failed": true, "user": true,
}
