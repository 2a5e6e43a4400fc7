package pfctl8

import (
	"context"
	"fmt"
	"time"

	"github.com/ifsim/ifsim/altq/pf"
)

// showWhat shows what -s names.
func (c *command) showWhat(ctx context.Context) error {
	switch c.show {
	case "queue":
		return c.showQueues(ctx)
	case "rules":
		return c.showRules()
	case "info":
		return c.showInfo()
	case "Running":
		return c.showRunning()
	case "all":
		if err := c.showRules(); err != nil {
			return err
		}
		if err := c.showInfo(); err != nil {
			return err
		}
		c.verbose = min(c.verbose, 1)
		return c.showQueues(ctx)
	}
	return fmt.Errorf("-s %s: not available", c.show)
}

// status is the word for whether pf runs.
func (c *command) status() string {
	if c.p.Enabled() {
		return "Enabled"
	}
	return "Disabled"
}

func (c *command) showRunning() error {
	_, err := fmt.Fprintln(c.Stdout, c.status())
	return err
}

// infoJSON is what -s info shows.
type infoJSON struct {
	Status string `json:"status"`
	States int    `json:"states"`
	Short  uint64 `json:"short"`
	Memory uint64 `json:"memory"`
}

// showInfo shows state and counters (print_status), those that there are.
func (c *command) showInfo() error {
	n := c.p.Counters()
	if c.format.JSON {
		return c.format.Encode(c.Stdout, infoJSON{Status: c.status(), States: n.States, Short: n.Short, Memory: n.Memory})
	}
	const line = "  %-25s %14d\n"
	_, err := fmt.Fprintf(c.Stdout, "Status: %s\n\nState Table\n"+line+"Counters\n"+line+line,
		c.status(), "current entries", n.States, "short", n.Short, "memory", n.Memory)
	return err
}

// ruleJSON is a rule as -o json shows it.
type ruleJSON struct {
	Number      int    `json:"number"`
	Rule        string `json:"rule"`
	Queue       string `json:"queue,omitempty"`
	PQueue      string `json:"pqueue,omitempty"`
	Evaluations uint64 `json:"evaluations"`
	Packets     uint64 `json:"packets"`
	Bytes       uint64 `json:"bytes"`
	States      uint64 `json:"states"`
}

// showRules shows the rules, with -v their counters.
func (c *command) showRules() error {
	rules := c.p.Rules()
	if c.format.JSON {
		list := make([]ruleJSON, len(rules))
		for i, r := range rules {
			list[i] = ruleJSON{i, r.Rule.String(), r.Qname, r.PQname, r.Evaluations, r.Packets, r.Bytes, r.States}
		}
		return c.format.Encode(c.Stdout, list)
	}
	for i, r := range rules {
		if err := c.showRule(i, r); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) showRule(i int, r pf.RuleInfo) error {
	number := ""
	if c.verbose > 1 {
		number = fmt.Sprintf("@%d ", i)
	}
	_, err := fmt.Fprintf(c.Stdout, "%s%s\n", number, r.Rule)
	if err == nil && c.verbose > 0 {
		_, err = fmt.Fprintf(c.Stdout, "  [ Evaluations: %-8d  Packets: %-8d  Bytes: %-10d  States: %-6d]\n",
			r.Evaluations, r.Packets, r.Bytes, r.States)
	}
	return err
}

// statInterval is the pause between the listings of -vv (STAT_INTERVAL).
const statInterval = 5 * time.Second

// showQueues shows the queues, with -v their statistics, with -vv again and again.
func (c *command) showQueues(ctx context.Context) error {
	var l listing
	for first := true; ; first = false {
		l.update(c.p.Queues())
		if err := c.showListing(&l, first); err != nil {
			return err
		}
		if c.verbose < 2 || len(l.nodes) == 0 {
			return nil
		}
		if !c.format.JSON {
			fmt.Fprintln(c.Stdout)
		}
		if err := c.Pause(ctx, statInterval); err != nil {
			return nil
		}
	}
}

func (c *command) showListing(l *listing, first bool) error {
	if c.format.JSON {
		return c.format.Encode(c.Stdout, l.json(c.only))
	}
	if len(l.nodes) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No queue in use")
		return err
	}
	return l.write(c.Stdout, writeOptions{only: c.only, stats: c.verbose > 0, debug: c.debug, removed: first})
}
