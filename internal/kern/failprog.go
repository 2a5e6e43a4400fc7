package kern

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

type failAction uint8

const (
	failOff failAction = iota
	failReturn
	failPrint
	failYield
)

// failActions are the actions of fail(9) that are supported.
var failActions = map[string]failAction{"off": failOff, "return": failReturn, "print": failPrint, "yield": failYield}

// failRefused are those that are not.
var failRefused = map[string]bool{"sleep": true, "delay": true, "pause": true, "panic": true, "break": true}

const (
	// unlimited is the count of a term without one.
	unlimited = -1
	// percentScale is the denominator of a percentage: 100 % in steps of 0.0001 %.
	percentScale    = 1_000_000
	percentDecimals = 4
	// maxFailTerms bounds a chain.
	maxFailTerms = 32
)

// failTerm is one link of a chain: [probability][count*]action[(arg)].
type failTerm struct {
	num, den uint64 // probability; den 0 is always
	percent  bool   // how the probability was written
	left     *atomic.Int64
	action   failAction
	arg      int
	hasArg   bool
}

// failProgram is a parsed setting. Only the counts change.
type failProgram struct{ terms []failTerm }

// chance draws the term's probability.
func (t *failTerm) chance(random func() uint64) bool {
	return t.den == 0 || random()%t.den < t.num
}

// take uses up one of the term's count; false when none is left.
func (t *failTerm) take() bool {
	for {
		n := t.left.Load()
		if n == unlimited {
			return true
		}
		if n == 0 {
			return false
		}
		if t.left.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// exhausted reports whether no term can ever fire again.
func (p *failProgram) exhausted() bool {
	for i := range p.terms {
		if p.terms[i].left.Load() != 0 {
			return false
		}
	}
	return true
}

// alwaysOff reports whether nothing can be reached before an unconditional off.
func (p *failProgram) alwaysOff() bool {
	t := &p.terms[0]
	return t.action == failOff && t.den == 0 && t.left.Load() == unlimited
}

// String prints the program so that parsing it gives the same one.
func (p *failProgram) String() string {
	var b strings.Builder
	for i := range p.terms {
		if i > 0 {
			b.WriteString("->")
		}
		p.terms[i].print(&b)
	}
	return b.String()
}

func (t *failTerm) print(b *strings.Builder) {
	switch {
	case t.den == 0:
	case t.percent:
		const whole = percentScale / 100
		s := fmt.Sprintf("%d.%0*d", t.num/whole, percentDecimals, t.num%whole)
		b.WriteString(strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + "%")
	default:
		fmt.Fprintf(b, "%din%d->", t.num, t.den)
	}
	if n := t.left.Load(); n != unlimited {
		fmt.Fprintf(b, "%d*", n)
	}
	for name, a := range failActions {
		if a == t.action {
			b.WriteString(name)
		}
	}
	if t.hasArg {
		fmt.Fprintf(b, "(%d)", t.arg)
	}
}

// parseFailProgram reads a setting of fail(9), with MinN-> as another way to write
// a probability. White space between terms is ignored.
func parseFailProgram(s string) (*failProgram, error) {
	p := new(failProgram)
	links := strings.Split(s, "->")
	for i := 0; i < len(links); i++ {
		var t failTerm
		link := strings.TrimSpace(links[i])
		if num, den, ok := parseOdds(link); ok {
			if i++; i == len(links) {
				return nil, fmt.Errorf("%q has no action after it: %w", link, syscall.EINVAL)
			}
			t.num, t.den = num, den
			link = strings.TrimSpace(links[i])
		}
		if err := t.parse(link); err != nil {
			return nil, err
		}
		if p.terms = append(p.terms, t); len(p.terms) > maxFailTerms {
			return nil, fmt.Errorf("more than %d terms: %w", maxFailTerms, syscall.EINVAL)
		}
	}
	return p, nil
}

// parseOdds reads "1in100".
func parseOdds(s string) (num, den uint64, ok bool) {
	a, b, found := strings.Cut(s, "in")
	if !found {
		return 0, 0, false
	}
	num, err1 := strconv.ParseUint(a, 10, 32)
	den, err2 := strconv.ParseUint(b, 10, 32)
	return num, den, err1 == nil && err2 == nil && den > 0 && num <= den
}

// parse reads [pct%][count*]action[(arg)].
func (t *failTerm) parse(s string) error {
	bad := func(what string) error { return fmt.Errorf("%s in %q: %w", what, s, syscall.EINVAL) }
	rest := s
	if pct, after, found := strings.Cut(rest, "%"); found {
		num, ok := parsePercent(pct)
		if !ok || t.den != 0 {
			return bad("bad probability")
		}
		t.num, t.den, t.percent, rest = num, percentScale, true, after
	}
	t.left = new(atomic.Int64)
	t.left.Store(unlimited)
	if count, after, found := strings.Cut(rest, "*"); found {
		n, err := strconv.ParseUint(count, 10, 31)
		if err != nil {
			return bad("bad count")
		}
		t.left.Store(int64(n))
		rest = after
	}
	name, arg, found := strings.Cut(rest, "(")
	if found {
		text, ok := strings.CutSuffix(arg, ")")
		n, err := strconv.ParseInt(strings.TrimSpace(text), 0, strconv.IntSize)
		if !ok || err != nil {
			return bad("bad argument")
		}
		t.arg, t.hasArg = int(n), true
	}
	action, ok := failActions[name]
	switch {
	case failRefused[name]:
		return fmt.Errorf("%s is not supported: %w", name, syscall.EOPNOTSUPP)
	case !ok:
		return bad("unknown action")
	}
	t.action = action
	return nil
}

// parsePercent reads a decimal number of 0 to 100 with at most four decimals, in
// units of 1/percentScale.
func parsePercent(s string) (uint64, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) > percentDecimals || whole == "" {
		return 0, false
	}
	frac += strings.Repeat("0", percentDecimals-len(frac))
	n, err := strconv.ParseUint(whole+frac, 10, 32)
	return n, err == nil && n <= percentScale
}
