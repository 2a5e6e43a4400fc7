package iflib

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
)

// rssIoctl serves the requests about receive-side scaling (spec iflib 2.12):
// iflib checks what goes in and out, the driver does the rest under the ctx
// lock.
func (ctx *Ctx) rssIoctl(cmd ifnet.Ioctl, data any) error {
	switch cmd {
	case ifnet.IoctlGetRSSKey:
		return with(cmd, data, ctx.rssKeyGet)
	case ifnet.IoctlSetRSSKey:
		return with(cmd, data, ctx.rssKeySet)
	case ifnet.IoctlGetRSSHash:
		return with(cmd, data, func(h *ifnet.RSSHash) error {
			return locked(ctx, cmd, func(d RSSer) error { return d.RSSHashGet(h) })
		})
	case ifnet.IoctlGetRSSTable:
		return with(cmd, data, ctx.rssTableGet)
	}
	return with(cmd, data, ctx.rssTableSet)
}

func (ctx *Ctx) rssKeyGet(key *ifnet.RSSKey) error {
	return locked(ctx, ifnet.IoctlGetRSSKey, func(d RSSer) error {
		*key = ifnet.RSSKey{}
		if err := d.RSSKeyGet(key); err != nil {
			return err
		}
		if key.KeyLen < 0 || key.KeyLen > ifnet.RSSKeyLen {
			return fmt.Errorf("driver's RSS key of %d bytes: %w", key.KeyLen, syscall.EINVAL)
		}
		return nil
	})
}

func (ctx *Ctx) rssKeySet(key *ifnet.RSSKey) error {
	if key.Func != ifnet.RSSFuncToeplitz || key.Spare != 0 || key.KeyLen <= 0 || key.KeyLen > ifnet.RSSKeyLen {
		return fmt.Errorf("RSS key of %d bytes for function %d: %w", key.KeyLen, key.Func, syscall.EINVAL)
	}
	clear(key.Key[key.KeyLen:])
	return locked(ctx, ifnet.IoctlSetRSSKey, func(d RSSer) error { return d.RSSKeySet(key) })
}

// checkTableSize refuses a device whose table does not fit the request.
func (ctx *Ctx) checkTableSize() error {
	if n := ctx.scctx.RSSTableSize; n > ifnet.RSSTableMaxLen {
		return fmt.Errorf("RSS table of %d entries, the request holds %d: %w", n, ifnet.RSSTableMaxLen, syscall.EMSGSIZE)
	}
	return nil
}

func (ctx *Ctx) rssTableGet(t *ifnet.RSSTable) error {
	if err := ctx.checkTableSize(); err != nil {
		return err
	}
	return locked(ctx, ifnet.IoctlGetRSSTable, func(d RSSer) error {
		*t = ifnet.RSSTable{}
		if err := d.RSSTableGet(t); err != nil {
			return err
		}
		if t.NumEntries != ctx.scctx.RSSTableSize {
			return fmt.Errorf("driver's RSS table has %d entries of %d: %w", t.NumEntries, ctx.scctx.RSSTableSize, syscall.EINVAL)
		}
		t.NQueues, t.TableSize = ctx.scctx.NRxQSets, ctx.scctx.RSSTableSize
		return nil
	})
}

func (ctx *Ctx) rssTableSet(t *ifnet.RSSTable) error {
	if err := ctx.checkTableSize(); err != nil {
		return err
	}
	if t.NumEntries != ctx.scctx.RSSTableSize {
		return fmt.Errorf("RSS table with %d entries of %d: %w", t.NumEntries, ctx.scctx.RSSTableSize, syscall.EINVAL)
	}
	for i, q := range t.Table[:t.NumEntries] {
		if int(q) >= ctx.scctx.NRxQSets {
			return fmt.Errorf("RSS table entry %d names queue %d of %d: %w", i, q, ctx.scctx.NRxQSets, syscall.EINVAL)
		}
	}
	return locked(ctx, ifnet.IoctlSetRSSTable, func(d RSSer) error { return d.RSSTableSet(t) })
}
