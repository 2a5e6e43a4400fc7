package iflibtest

import "slices"

// Rule is one rule of the contract.
type Rule struct {
	Name     string // short, in kebab-case: the name of the subtest
	Sentence string // what holds
	Doc      string // where it is explained

	// ways says on which ways the rule is run.
	ways func(o options, at int) []way

	// check runs the scenario that shows the rule. The rule may be watched in other
	// rules' scenarios as well.
	check func(c *check)
}

// guide is the document that explains the rules.
const guide = "docs/writing-a-driver.md#"

// Rules are all rules, in the order in which Run takes them: what a rule rests on comes
// before it.
func Rules() []Rule {
	rules := slices.Concat(attachRules, contractRules, trafficRules, controlRules, loadRules)
	for i := range rules {
		rules[i].Doc = guide + rules[i].Name
	}
	return rules
}

// path is a way from Transmit to the hardware.
type path struct {
	name             string
	simple, abdicate bool
}

var paths = []path{{name: "mp_ring"}, {name: "mp_ring with tx_abdicate", abdicate: true}, {name: "simple_tx", simple: true}}

// way is a transmit path with an engine.
type way struct {
	path   path
	engine string // as the hint has it
}

func (w way) String() string { return w.path.name + ", " + w.engine + " engine" }

var engines = []string{"inline", "thread"}

// everyWay is all paths on both engines, or, of a sample, one, another for each rule.
func everyWay(o options, at int) []way {
	var ws []way
	for _, e := range engines {
		for _, p := range paths {
			ws = append(ws, way{p, e})
		}
	}
	if o.short {
		return ws[at%len(ws):][:1]
	}
	return ws
}

// oneWay is for what depends neither on path nor engine.
func oneWay(options, int) []way { return []way{{paths[0], engines[0]}} }

// everyPath is all paths on the inline engine.
func everyPath(o options, at int) []way {
	if o.short {
		return []way{{paths[at%len(paths)], engines[0]}}
	}
	var ws []way
	for _, p := range paths {
		ws = append(ws, way{p, engines[0]})
	}
	return ws
}
