package iflibtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// TestFailureNamesQueueDescriptorAndShowsTheRing looks at the text of a finding.
func TestFailureNamesQueueDescriptorAndShowsTheRing(t *testing.T) {
	good := func() Device {
		d := cq()
		d.Decode = func(r Ring, words []uint64) string { return fmt.Sprintf("(%v %d %d words)", r.Tx, r.Index, len(words)) }
		return d
	}
	tooMany := func(d *faulty) {
		d.path.credits = func(d *faulty, qid int, clear bool) int { return 2 * d.good().TxdCreditsUpdate(qid, clear) }
	}
	found := findings(plant(good, tooMany), options{short: true, only: map[string]bool{ruleCredits: true}})
	if len(found) != 1 {
		t.Fatalf("%d findings", len(found))
	}
	want := regexp.MustCompile(`^cqnic0, transmit queue 0, descriptor \d+: \d+ credits for \d+ descriptors that are not completed\n` +
		`(  +\d+: [0-9a-f]{16} [0-9a-f]{16}  \(true 1 2 words\)\n){4}> +\d+: [0-9a-f]{16} [0-9a-f]{16}  \(true 1 2 words\)`)
	if !want.MatchString(found[0].text) {
		t.Errorf("%s", found[0].text)
	}
}

// TestDriverThatPanicsIsAFinding looks for the place of the panic.
func TestDriverThatPanicsIsAFinding(t *testing.T) {
	f, _ := named("doorbell").judge(plant(cq, func(d *faulty) {
		d.path.flush = func(*faulty, int, uint32) { panic("out of paper") }
	}), options{}, way{paths[0], engines[0]})
	if f == nil || f.rule != ruleDoorbell || !strings.Contains(f.text, "panic: out of paper") || !strings.Contains(f.text, "TxdFlush") {
		t.Errorf("%+v", f)
	}
}

func TestDriverThatGoesRoundIsAFinding(t *testing.T) {
	r := named("doorbell")
	c := &check{newDevice: plant(cq, func(d *faulty) {
		var again *iflib.Task
		again = d.ctx.Kernel().NewTask("mutant", func() {
			d.ctx.Ifp().GetCounter(ifnet.CounterOPackets)
			again.Enqueue()
		})
		d.path.flush = func(*faulty, int, uint32) { again.Enqueue() }
	}), rule: r.Name, way: way{paths[0], engines[0]}}
	f := c.within(100*time.Millisecond, r.check)
	if f == nil || f.rule != ruleDoorbell || !strings.Contains(f.text, "did not come back within 100ms") {
		t.Errorf("%+v", f)
	}
}

// named is a rule.
func named(name string) Rule {
	for _, r := range Rules() {
		if r.Name == name {
			return r
		}
	}
	panic("no rule " + name)
}

// TestEachRuleIsExplained compares the rules with the document that they name.
func TestEachRuleIsExplained(t *testing.T) {
	names := make(map[string]bool)
	for _, r := range Rules() {
		file, anchor, _ := strings.Cut(r.Doc, "#")
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if anchor != r.Name || !strings.Contains(string(text), "\n### "+anchor+"\n") {
			t.Errorf("%s: %s has no such heading", r.Name, r.Doc)
		}
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(r.Name) || !strings.HasSuffix(r.Sentence, ".") || names[r.Name] {
			t.Errorf("%s: %q", r.Name, r.Sentence)
		}
		names[r.Name] = true
	}
}

var _ iflib.Wrapper[iflib.Device] = (*faulty)(nil)
