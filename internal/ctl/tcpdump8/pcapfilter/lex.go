package pcapfilter

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// errSyntax is what libpcap says of an expression that its grammar does not have.
var errSyntax = errors.New("can't parse filter expression: syntax error")

// kind is what a token is.
type kind uint8

const (
	kindEnd     kind = iota
	kindWord         // a keyword, a name or an address
	kindEscaped      // a name behind a backslash, which is no keyword
	kindNumber
	kindSign // an operator or parenthesis
)

type token struct {
	kind kind
	text string
	num  uint32
}

func (t token) is(sign string) bool { return t.kind == kindSign && t.text == sign }

func (t token) word(name string) bool { return t.kind == kindWord && t.text == name }

// The parts of the grammar of scanner.l.
var (
	signs   = regexp.MustCompile(`^(?:>=|<=|!=|==|<<|>>|&&|\|\||[-+*/%\[\]!<>()&|^=:])`)
	macs    = regexp.MustCompile(`^[0-9A-Fa-f]{1,2}(?:[:-][0-9A-Fa-f]{1,2}){5}(?:$|[^-:.\w])`)
	ipv6s   = regexp.MustCompile(`^[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*`)
	numbers = regexp.MustCompile(`^(?:0[xX][0-9A-Fa-f]+|[0-9]+)(?:$|[^-_.\w])`)
	words   = regexp.MustCompile(`^[A-Za-z0-9](?:[-_.A-Za-z0-9]*[.A-Za-z0-9])?`)
	escaped = regexp.MustCompile(`^\\[^ !()\n\t]+`)
)

// scan cuts an expression into tokens, the last of kindEnd.
func scan(text string) ([]token, error) {
	var list []token
	indexed := 0 // brackets open: there a colon separates, elsewhere it belongs to addresses
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return append(list, token{}), nil
		}
		t, n, err := next(text, indexed > 0)
		if err != nil {
			return nil, err
		}
		if t.is("[") {
			indexed++
		} else if t.is("]") {
			indexed--
		}
		list = append(list, t)
		text = text[n:]
	}
}

// next is the token that text begins with, and its length.
func next(text string, indexed bool) (t token, n int, err error) {
	if !indexed {
		if m := macs.FindString(text); m != "" {
			m = strings.TrimRight(m, " \t\r\n()!&|<>=+*/%^[]")
			return token{kind: kindWord, text: mac(m)}, len(m), nil
		}
		if m := ipv6s.FindString(text); m != "" {
			return token{kind: kindWord, text: m}, len(m), nil
		}
	}
	if m := numbers.FindString(text); m != "" {
		m = strings.TrimFunc(m, func(r rune) bool { return !strings.ContainsRune("xX0123456789abcdefABCDEF", r) })
		num, err := strconv.ParseUint(m, 0, 32)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return t, 0, fmt.Errorf("number %s overflows 32 bits", m)
		case err != nil:
			return t, 0, fmt.Errorf("number %s contains non-octal digit", m)
		}
		return token{kind: kindNumber, text: m, num: uint32(num)}, len(m), nil
	}
	if m := words.FindString(text); m != "" {
		return word(m), len(m), nil
	}
	if m := escaped.FindString(text); m != "" {
		return token{kind: kindEscaped, text: m[1:]}, len(m), nil
	}
	if m := signs.FindString(text); m != "" {
		return token{kind: kindSign, text: synonym(m)}, len(m), nil
	}
	return t, 0, errSyntax
}

// mac is an Ethernet address with two digits a byte and colons between.
func mac(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ':' || r == '-' })
	for i, part := range parts {
		if len(part) == 1 {
			parts[i] = "0" + part
		}
	}
	return strings.Join(parts, ":")
}

// synonym is the one spelling of a sign, or the word for it.
func synonym(sign string) string {
	switch sign {
	case "==":
		return "="
	case "||":
		return "or"
	case "&&":
		return "and"
	}
	return sign
}

// word is a token of a word: some are signs, some stand for numbers.
func word(text string) token {
	switch text {
	case "and", "or":
		return token{kind: kindSign, text: text}
	case "not":
		return token{kind: kindSign, text: "!"}
	}
	if n, ok := constants[text]; ok {
		return token{kind: kindNumber, text: text, num: n}
	}
	return token{kind: kindWord, text: text}
}

// constants are the words that stand for numbers in expressions with packet data.
var constants = map[string]uint32{
	"icmptype": 0, "icmpcode": 1,
	"icmp-echoreply": 0, "icmp-unreach": 3, "icmp-sourcequench": 4, "icmp-redirect": 5, "icmp-echo": 8,
	"icmp-routeradvert": 9, "icmp-routersolicit": 10, "icmp-timxceed": 11, "icmp-paramprob": 12,
	"icmp-tstamp": 13, "icmp-tstampreply": 14, "icmp-ireq": 15, "icmp-ireqreply": 16,
	"icmp-maskreq": 17, "icmp-maskreply": 18,
	"icmp6type": 0, "icmp6code": 1,
	"icmp6-destinationunreach": 1, "icmp6-packettoobig": 2, "icmp6-timeexceeded": 3, "icmp6-parameterproblem": 4,
	"icmp6-echo": 128, "icmp6-echoreply": 129, "icmp6-multicastlistenerquery": 130,
	"icmp6-multicastlistenerreportv1": 131, "icmp6-multicastlistenerdone": 132,
	"icmp6-routersolicit": 133, "icmp6-routeradvert": 134, "icmp6-neighborsolicit": 135,
	"icmp6-neighboradvert": 136, "icmp6-redirect": 137, "icmp6-multicastlistenerreportv2": 143,
	"tcpflags": 13, "tcp-fin": 0x01, "tcp-syn": 0x02, "tcp-rst": 0x04, "tcp-push": 0x08,
	"tcp-ack": 0x10, "tcp-urg": 0x20, "tcp-ece": 0x40, "tcp-cwr": 0x80,
}
