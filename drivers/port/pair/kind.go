package pair

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/ifsim/ifsim/drivers/port"
)

// wires are the wires of one fabric by name.
type wires struct {
	mu sync.Mutex // taken before a wire's mu
	m  map[string]*wire
}

// Kind describes the kind for a Fabric: "pair:NAME" or "pair:NAME,depth=N", N frames a
// direction in 1..MaxDepth (default DefaultDepth). Each call makes a name space of its
// own: ends meet only through one Fabric.
func Kind() port.Kind {
	ws := &wires{m: make(map[string]*wire)}
	return port.Kind{Name: "pair", Open: func(arg string) (port.Port, error) {
		p, err := ws.open(arg)
		if err != nil {
			return nil, err
		}
		return p, nil
	}}
}

// parse splits "NAME,depth=N"; depth is 0 if absent.
func parse(arg string) (name string, depth int, err error) {
	name, opts, more := strings.Cut(arg, ",")
	if name == "" {
		return "", 0, fmt.Errorf("pair port needs a name, as in pair:wire0: %w", syscall.EINVAL)
	}
	for more {
		var opt string
		opt, opts, more = strings.Cut(opts, ",")
		key, val, _ := strings.Cut(opt, "=")
		if key != "depth" {
			return "", 0, fmt.Errorf("pair port has no option %q (known: depth): %w", opt, syscall.EINVAL)
		}
		depth, err = strconv.Atoi(val)
		if err != nil || depth < 1 || depth > MaxDepth {
			return "", 0, fmt.Errorf("pair port: depth %q is not a number in 1..%d: %w", val, MaxDepth, syscall.EINVAL)
		}
	}
	return name, depth, nil
}

func (ws *wires) open(arg string) (*Port, error) {
	name, depth, err := parse(arg)
	if err != nil {
		return nil, err
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.m[name]
	if w == nil {
		if depth == 0 {
			depth = DefaultDepth
		}
		w = &wire{name: name, depth: depth, carrier: true}
		w.dirs[0].init(depth)
		w.dirs[1].init(depth)
		ws.m[name] = w
	}
	if depth != 0 && depth != w.depth {
		return nil, fmt.Errorf("wire %q has depth %d, not %d: %w", name, w.depth, depth, syscall.EINVAL)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.ends {
		if w.ends[i] == nil {
			p := &Port{name: "pair:" + name, wires: ws, w: w, out: &w.dirs[i], in: &w.dirs[1-i]}
			w.ends[i] = p
			return p, nil
		}
	}
	return nil, fmt.Errorf("wire %q has both its ends taken: %w", name, syscall.EBUSY)
}

// leave forgets a wire that has no end any more.
func (ws *wires) leave(w *wire) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ends == [2]*Port{} && ws.m[w.name] == w {
		delete(ws.m, w.name)
	}
}
