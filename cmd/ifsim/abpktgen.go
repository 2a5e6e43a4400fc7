package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/bench/ab"
	"github.com/ifsim/ifsim/internal/ctl/pktgen8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/machine"
)

// pktgen compares by pktgen on machines of the files in dir, one for each arm.
func (c comparison) pktgen(ctx context.Context, args []string) (res *ab.Result, err error) {
	counted := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-n") })
	switch at := slices.Index(args, "-f"); {
	case c.dir == "":
		return nil, errors.New("pktgen: --dir DIR names the machine that it runs on")
	case !counted || at < 0 || at+1 == len(args) || args[at+1] != "tx":
		return nil, errors.New("pktgen: what can be compared is -f tx, with -n COUNT")
	case c.rounds < 1:
		return nil, errors.New("at least one round is needed")
	}
	if _, err := os.Stat(c.dir); err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	var generators []*pktgen8.Pktgen
	for _, a := range c.arms {
		m, berr := bootArm(c.dir, a)
		if berr != nil {
			return nil, berr
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		generators = append(generators, pktgen8.New(m))
	}
	var done func(done, total int)
	if c.bar {
		done = progress("runs")
	}
	cell, err := ab.Run(c.arms, ab.MetricPPS, c.rounds, func(arm int) (float64, error) {
		return pktgenRate(ctx, generators[arm], args)
	}, done)
	return &ab.Result{Rounds: c.rounds, Cells: []ab.Cell{cell}}, err
}

// bootArm boots a machine of the files in dir for an arm.
func bootArm(dir string, a ab.Arm) (*machine.Machine, error) {
	m, err := machine.Boot(machine.Config{Files: os.DirFS(dir), Env: a.Env(), Console: io.Discard})
	if err != nil {
		return nil, fmt.Errorf("booting a machine for %s: %w", a.Name(), err)
	}
	if err := a.Apply(m); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// pktgenRate is how many frames a second one run sends.
func pktgenRate(ctx context.Context, g *pktgen8.Pktgen, args []string) (float64, error) {
	var out, said bytes.Buffer
	// Without reports, of -T, nobody waits.
	streams := tool.IO{Stdout: &out, Stderr: &said}
	if g.Run(ctx, append(slices.Clone(args), "-T", "0", "-o", "json"), streams) != 0 {
		return 0, errors.New(strings.TrimSpace(said.String()))
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	var result struct{ Pktgen client.PktgenResult }
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		return 0, fmt.Errorf("pktgen's result: %w", err)
	}
	return result.Pktgen.PPS(), nil
}
