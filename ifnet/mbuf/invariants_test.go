package mbuf

import (
	"fmt"
	"strings"
	"testing"
)

// mustPanic runs fn and fails unless it panics with a message that contains all parts.
func mustPanic(t *testing.T, fn func(), parts ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		r := fmt.Sprint(recover())
		for _, p := range parts {
			if !strings.Contains(r, p) {
				t.Errorf("panic %q, want %q", r, p)
			}
		}
	}()
	fn()
}

func TestDoubleFreePanics(t *testing.T) {
	z := machine(t, true, Config{})
	c := cache(t, z)
	for name, get := range map[string]func() *Mbuf{
		"plain": c.Get, "header": c.GetHdr, "packet": func() *Mbuf { return c.GetCl(0) },
		"jumbo": func() *Mbuf { return c.GetJcl(0, MJum9Bytes) },
		"owner of a shared cluster": func() *Mbuf {
			m := c.GetCl(FlagPktHdr)
			m.SetLen(1)
			m.FixHdr()
			c.CopyPacket(m)
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := get()
			c.Free(m)
			mustPanic(t, func() { c.Free(m) }, "Duplicate free of ", "(mbuf)")
		})
	}
	cl, _ := c.AllocCluster(MClBytes)
	c.FreeCluster(cl)
	mustPanic(t, func() { c.FreeCluster(cl) }, "Duplicate free of ")
}

func TestUseAfterFreePanics(t *testing.T) {
	for name, get := range map[string]func(c *Cache) *Mbuf{
		"mbuf": (*Cache).Get, "packet": func(c *Cache) *Mbuf { return c.GetCl(0) },
		"page": func(c *Cache) *Mbuf { return c.GetJcl(0, MJumPageSize) },
	} {
		t.Run(name, func(t *testing.T) {
			c := cache(t, machine(t, true, Config{}))
			m := get(c)
			m.SetLen(100)
			data := m.Bytes()
			c.Free(m)
			mustPanic(t, func() { m.SetLen(101) }, "SetLen(101) outside the buffer")
			data[4] = 1
			mustPanic(t, func() { get(c) }, "Memory modified after free ", "val=deadc001")
		})
	}
}

func TestLengthOutsideTheBufferPanics(t *testing.T) {
	c := cache(t, machine(t, false, Config{}))
	m := c.GetHdr()
	m.SetLen(MHLen)
	mustPanic(t, func() { m.SetLen(MHLen + 1) }, "SetLen(161) outside the buffer")
	mustPanic(t, func() { m.SetLen(-1) }, "SetLen(-1) outside the buffer")
	mustPanic(t, func() { m.ShiftData(1) }, "ShiftData(1) outside the buffer")
	mustPanic(t, func() { m.CopyData(100, make([]byte, 61)) }, "m_copydata, length > size of mbuf chain")
	mustPanic(t, func() { c.GetJcl(0, 1000) }, "m_getjcl: invalid cluster size")
	c.Free(m)
}

func TestMbufOfAnotherMachinePanics(t *testing.T) {
	a, b := cache(t, machine(t, true, Config{})), cache(t, machine(t, true, Config{}))
	m := a.Get()
	mustPanic(t, func() { b.Free(m) }, "of another machine")
	a.Free(m)
}
