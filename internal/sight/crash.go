package sight

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Crash writes dumps by itself: of a device whose driver breaks a rule of the contract for
// the first time, and of all devices when the machine panics. The console gets a few lines,
// and a file the whole.
type Crash struct {
	k       *kern.Kernel
	dir     string
	devices func() []*iflib.Ctx
	writing atomic.Bool // one dump at a time
	over    atomic.Bool // the panic that comes has its dump
}

// Bounds of the files, and of a dump that somebody waits for who is about to die.
const (
	maxFiles  = 1000 // of one device
	panicTime = 2 * time.Second
	dirMode   = 0o755
	fileMode  = 0o644
)

// StartCrash begins to watch a machine. Files go to the directory dir, which is made when
// it is needed; without one there is the console only. devices are those attached; it is
// called from any goroutine and must not wait. ENXIO: iflib.Init has not run.
func StartCrash(k *kern.Kernel, dir string, devices func() []*iflib.Ctx) (*Crash, error) {
	c := &Crash{k: k, dir: dir, devices: devices}
	if err := iflib.OnBreach(k, c.breach); err != nil {
		return nil, err
	}
	k.OnPanic(c.panicking)
	return c, nil
}

// breach dumps the device of a broken rule, on the goroutine that found it broken, which
// may own one of its queues.
func (c *Crash) breach(b *iflib.Breach) {
	if b.Panic {
		c.over.Store(true)
	}
	c.write(b.Device, b.Text, func() Dump {
		var here mbuf.Holder
		for _, ctx := range c.devices() {
			if ctx.Name() == b.Device {
				here = ctx
			}
		}
		return take(mbuf.Of(c.k), []look{{holder: here, look: b.Look}}, false)
	})
}

// panicking dumps all devices. The goroutine that panics may hold any lock, also of a
// model, so another one looks, and is not waited for if it does not come back.
func (c *Crash) panicking(reason any) {
	if c.over.Load() {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.write("panic", fmt.Sprint(reason), func() Dump { return Take(c.k, c.devices(), false) })
	}()
	timer := time.NewTimer(panicTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// write writes a dump. A breach that comes while one is written, on another goroutine or
// from the looking itself, is told of and not dumped.
func (c *Crash) write(name, why string, look func() Dump) {
	if !c.writing.CompareAndSwap(false, true) {
		c.k.Printf("%s: not dumped, another dump is being written: %s\n", name, why)
		return
	}
	defer c.writing.Store(false)
	d := look()
	c.k.Printf("%s: %s\n%s", name, why, d.Short())
	if c.dir == "" {
		return
	}
	if file, err := c.save(name, why, &d); err != nil {
		c.k.Printf("%s: the dump is lost: %v\n", name, err)
	} else {
		c.k.Printf("%s: the dump is in %s\n", name, file)
	}
}

// save writes the whole dump into a new file, NAME.N.dump with the first N that is free.
func (c *Crash) save(name, why string, d *Dump) (file string, err error) {
	if err := os.MkdirAll(c.dir, dirMode); err != nil {
		return "", err
	}
	for n := range maxFiles {
		file = filepath.Join(c.dir, fmt.Sprintf("%s.%d.dump", name, n))
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = fmt.Fprintf(f, "%s: %s\nuptime %v\n", name, why, c.k.Uptime())
		if err == nil {
			err = d.Write(f, true)
		}
		return file, errors.Join(err, f.Close())
	}
	return "", fmt.Errorf("%s has %d dumps of %s: %w", c.dir, maxFiles, name, fs.ErrExist)
}
