package iflib

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
)

// ioctlDev has every optional method that a request reaches.
type ioctlDev struct {
	ctlDev
	locked  bool // the ctx lock was held in the last optional method
	i2c     ifnet.I2CReq
	key     ifnet.RSSKey
	entries int
	keyLen  int
	err     error
}

// seen notes the call and whether the ctx lock is held.
func (d *ioctlDev) seen(format string, a ...any) {
	d.note(format, a...)
	d.locked = !d.ctx.ctxLock.TryLock()
	if !d.locked {
		d.ctx.ctxLock.Unlock()
	}
}

func (d *ioctlDev) PromiscSet(f ifnet.Flags) error {
	d.seen("promisc_set %#x", f)
	return d.promiscErr
}
func (d *ioctlDev) MediaSet() { d.seen("media_set") }
func (d *ioctlDev) PrivIoctl(cmd ifnet.Ioctl, data any) error {
	d.seen("priv_ioctl %s %v", cmd, data)
	return d.err
}
func (d *ioctlDev) I2CReq(req *ifnet.I2CReq) error {
	d.seen("i2c_req")
	d.i2c = *req
	return d.err
}
func (d *ioctlDev) DownReason() (string, error) { d.seen("get_downreason"); return "no cable", d.err }
func (d *ioctlDev) RSSKeyGet(k *ifnet.RSSKey) error {
	d.seen("rss_key_get")
	if *k != (ifnet.RSSKey{}) {
		d.note("reply is not zeroed")
	}
	k.KeyLen = d.keyLen
	return d.err
}
func (d *ioctlDev) RSSKeySet(k *ifnet.RSSKey) error { d.seen("rss_key_set"); d.key = *k; return d.err }
func (d *ioctlDev) RSSHashGet(h *ifnet.RSSHash) error {
	d.seen("rss_hash_get")
	*h = ifnet.RSSHash{Func: ifnet.RSSFuncToeplitz, Types: ifnet.RSSTypeIPv4}
	return d.err
}
func (d *ioctlDev) RSSTableGet(t *ifnet.RSSTable) error {
	d.seen("rss_table_get")
	t.NumEntries = d.entries
	return d.err
}
func (d *ioctlDev) RSSTableSet(t *ifnet.RSSTable) error {
	d.seen("rss_table_set %d", t.NumEntries)
	return d.err
}

func newIoctlCtx(t *testing.T) (*ctlCtx, *ioctlDev) {
	m := newCtlMachine(t, false)
	d := &ioctlDev{entries: 64, keyLen: 40}
	c := m.newCtx(t, 0, d, &d.ctlDev)
	c.ifp.SetMTU(ifnet.EtherMTU)
	c.maxFLBuf = 2048
	c.scctx.RSSTableSize, c.scctx.NRxQSets = 64, 4
	return c, d
}

// running brings the interface up without a trace in the calls.
func (c *ctlCtx) running(d *ctlDev) {
	c.ifp.SetFlags(ifnet.FlagUp, 0)
	c.ifInit()
	c.ifFlags = c.ifp.Flags()
	d.take()
}

var (
	stopCalls = []string{"intr_disable", "stop"}
	initCalls = []string{"intr_disable", "init", "intr_enable"}
)

// seq joins call lists.
func seq(parts ...[]string) (all []string) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// checkCalls compares the device calls since the last look.
func checkCalls(t *testing.T, d *ctlDev, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, d.take()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestSetMTU(t *testing.T) {
	c, d := newIoctlCtx(t)
	c.running(&d.ctlDev)
	if err := c.ioctl(ifnet.IoctlSetMTU, 1500); err != nil {
		t.Fatal(err)
	}
	checkCalls(t, &d.ctlDev, nil)

	for _, tt := range []struct {
		mtu   int
		multi bool
	}{{9000, true}, {2049, true}, {2048, false}} {
		if err := c.ioctl(ifnet.IoctlSetMTU, tt.mtu); err != nil {
			t.Fatal(err)
		}
		checkCalls(t, &d.ctlDev, seq(stopCalls, []string{fmt.Sprintf("mtu_set %d", tt.mtu)}, initCalls))
		if got := c.flags.Load()&uint32(ctxMultiSeg) != 0; got != tt.multi || c.ifp.MTU() != tt.mtu {
			t.Errorf("mtu %d: MULTISEG %v, mtu %d", tt.mtu, got, c.ifp.MTU())
		}
	}

	d.mtuErr = syscall.EINVAL
	if err := c.ioctl(ifnet.IoctlSetMTU, 16000); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("refused MTU: %v", err)
	}
	checkCalls(t, &d.ctlDev, seq(stopCalls, []string{"mtu_set 16000"}, initCalls))
	if c.ifp.MTU() != 2048 || !c.IsRunning() {
		t.Errorf("after a refusal: mtu %d, running %v", c.ifp.MTU(), c.IsRunning())
	}
}

func TestSetMTUOfADownedInterfaceLeavesItDown(t *testing.T) {
	c, d := newIoctlCtx(t)
	if err := c.ioctl(ifnet.IoctlSetMTU, 4000); err != nil {
		t.Fatal(err)
	}
	checkCalls(t, &d.ctlDev, seq(stopCalls, []string{"mtu_set 4000"}, initCalls))
	if got := c.ifp.DrvFlags(); got != 0 || c.IsRunning() {
		t.Errorf("driver flags %#x, running %v", got, c.IsRunning())
	}
}

func TestFailedInitIsNotReportedAsRunning(t *testing.T) {
	for name, change := range map[string]func(c *ctlCtx) error{
		"mtu": func(c *ctlCtx) error { return c.ioctl(ifnet.IoctlSetMTU, 4000) },
		"capabilities": func(c *ctlCtx) error {
			return c.ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: ifnet.CapTxCsum})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, d := newIoctlCtx(t)
			c.scctx.Capabilities = ifnet.CapTxCsum
			c.running(&d.ctlDev)
			d.initFails = true
			if err := change(c); err != nil {
				t.Fatal(err)
			}
			if got := c.ifp.DrvFlags(); got != ifnet.FlagOActive {
				t.Errorf("driver flags %#x, want OACTIVE alone", got)
			}
			d.initFails = false
			c.ifInit()
			if got := c.ifp.DrvFlags(); got != ifnet.FlagRunning {
				t.Errorf("driver flags %#x after a good init", got)
			}
		})
	}
}

func TestSetFlags(t *testing.T) {
	const up, promisc, allmulti = ifnet.FlagUp, ifnet.FlagPromisc, ifnet.FlagAllMulti
	tests := []struct {
		name    string
		running bool
		flags   ifnet.Flags // set before the request
		want    []string
	}{
		{"up starts", false, up, seq(stopCalls, initCalls)},
		{"up again does nothing", true, up, nil},
		{"down stops", true, 0, stopCalls},
		{"down again does nothing", false, 0, nil},
		{"promiscuous", true, up | promisc, []string{"promisc_set 0x8903"}},
		{"all groups", true, up | allmulti, []string{"promisc_set 0x8a03"}},
		{"another flag", true, up | ifnet.FlagLink0, nil},
		{"promiscuous while down", false, promisc, nil},
		{"up and promiscuous at once", false, up | promisc, seq(stopCalls, initCalls)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, d := newIoctlCtx(t)
			if tt.running {
				c.running(&d.ctlDev)
			}
			c.ifp.SetFlags(tt.flags, (up|promisc|allmulti)&^tt.flags)
			if err := c.ioctl(ifnet.IoctlSetFlags, nil); err != nil {
				t.Fatal(err)
			}
			checkCalls(t, &d.ctlDev, tt.want)
			if d.locked {
				t.Error("promisc_set ran with the ctx lock")
			}
			if got, want := c.IsRunning(), tt.flags&up != 0; got != want {
				t.Errorf("running %v, want %v", got, want)
			}
			if c.ifFlags != c.ifp.Flags() {
				t.Errorf("remembered flags %#x, want %#x", c.ifFlags, c.ifp.Flags())
			}
			if err := c.ioctl(ifnet.IoctlSetFlags, nil); err != nil {
				t.Fatal(err)
			}
			checkCalls(t, &d.ctlDev, nil)
		})
	}
}

func TestSetFlagsReturnsThePromiscError(t *testing.T) {
	c, d := newIoctlCtx(t)
	c.running(&d.ctlDev)
	d.promiscErr = syscall.EIO
	if err := c.ifp.Promisc(true); !errors.Is(err, syscall.EIO) {
		t.Errorf("promisc: %v", err)
	}
	if c.ifp.Flags()&ifnet.FlagPromisc != 0 {
		t.Error("PROMISC is set after a refusal")
	}
}

func TestSetAddr(t *testing.T) {
	req := ifnet.AddrReq{Family: ifnet.AFInet, Addr: netip.MustParsePrefix("192.0.2.1/24")}
	for _, family := range []ifnet.AF{ifnet.AFInet, ifnet.AFInet6} {
		c, d := newIoctlCtx(t)
		req.Family = family
		if err := c.ioctl(ifnet.IoctlSetAddr, req); err != nil {
			t.Fatal(err)
		}
		checkCalls(t, &d.ctlDev, seq(stopCalls, initCalls))
		if c.ifp.Flags()&ifnet.FlagUp == 0 || !c.IsRunning() {
			t.Error("an address does not bring the interface up")
		}
		if err := c.ioctl(ifnet.IoctlSetAddr, req); err != nil {
			t.Fatal(err)
		}
		checkCalls(t, &d.ctlDev, nil)
	}
	// Any other family goes to the generic handler, which always initialises.
	c, d := newIoctlCtx(t)
	c.running(&d.ctlDev)
	req.Family = ifnet.AFLink
	if err := c.ioctl(ifnet.IoctlSetAddr, req); err != nil {
		t.Fatal(err)
	}
	checkCalls(t, &d.ctlDev, seq(stopCalls, initCalls))
}

func TestMulticastReachesARunningInterfaceOnly(t *testing.T) {
	c, d := newIoctlCtx(t)
	for _, cmd := range []ifnet.Ioctl{ifnet.IoctlAddMulti, ifnet.IoctlDelMulti} {
		if err := c.ioctl(cmd, nil); err != nil {
			t.Fatal(err)
		}
	}
	checkCalls(t, &d.ctlDev, nil)
	c.running(&d.ctlDev)
	for _, cmd := range []ifnet.Ioctl{ifnet.IoctlAddMulti, ifnet.IoctlDelMulti} {
		if err := c.ioctl(cmd, nil); err != nil {
			t.Fatal(err)
		}
		checkCalls(t, &d.ctlDev, []string{"intr_disable", "multi_set", "intr_enable"})
	}
}

func TestMedia(t *testing.T) {
	c, d := newIoctlCtx(t)
	auto, fixed := ifnet.MediaEther|ifnet.MediaAuto, ifnet.MediaEther|ifnet.Media1000T|ifnet.MediaFDX
	c.media.Add(auto, 0)
	c.media.Add(fixed, 0)
	c.media.Set(auto)
	c.running(&d.ctlDev)
	if err := c.ioctl(ifnet.IoctlSetMedia, fixed); err != nil {
		t.Fatal(err)
	}
	checkCalls(t, &d.ctlDev, seq([]string{"media_set", "media_change"}, stopCalls, initCalls))
	if !d.locked {
		t.Error("media_set ran without the ctx lock")
	}
	d.mediaErr = syscall.EINVAL
	if err := c.ioctl(ifnet.IoctlSetMedia, auto); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("refused media: %v", err)
	}
	checkCalls(t, &d.ctlDev, []string{"media_set", "media_change"})
	var req ifnet.MediaReq
	for _, cmd := range []ifnet.Ioctl{ifnet.IoctlGetMedia, ifnet.IoctlGetXMedia} {
		if err := c.ioctl(cmd, &req); err != nil {
			t.Fatal(err)
		}
		checkCalls(t, &d.ctlDev, []string{"update_admin_status", "media_status"})
		if req.Current != fixed || req.Status != ifnet.MediaAValid|ifnet.MediaActive {
			t.Errorf("%s: current %#x status %#x", cmd, req.Current, req.Status)
		}
	}
}

func TestI2C(t *testing.T) {
	tests := []struct {
		name  string
		cmd   ifnet.Ioctl
		bank  bool
		req   ifnet.I2CReq
		want  error
		taken ifnet.I2CReq
	}{
		{"plain", ifnet.IoctlGetI2C, false, ifnet.I2CReq{DevAddr: 0xA0, Offset: 9, Len: 8, Page: 3, Bank: 4}, nil,
			ifnet.I2CReq{DevAddr: 0xA0, Offset: 9, Len: 8}},
		{"second address", ifnet.IoctlGetI2C, false, ifnet.I2CReq{DevAddr: 0xA2, Len: 1}, nil, ifnet.I2CReq{DevAddr: 0xA2, Len: 1}},
		{"other address", ifnet.IoctlGetI2C, false, ifnet.I2CReq{DevAddr: 0xA1, Len: 1}, syscall.EINVAL, ifnet.I2CReq{}},
		{"too long", ifnet.IoctlGetI2C, false, ifnet.I2CReq{DevAddr: 0xA0, Len: 9}, syscall.EINVAL, ifnet.I2CReq{}},
		{"paged", ifnet.IoctlGetI2CPB, true, ifnet.I2CReq{DevAddr: 0xA0, Len: 2, Page: 3, Bank: 4}, nil,
			ifnet.I2CReq{DevAddr: 0xA0, Len: 2, Page: 3, Bank: 4}},
		{"paged without support", ifnet.IoctlGetI2CPB, false, ifnet.I2CReq{DevAddr: 0xA0, Len: 2}, syscall.EINVAL, ifnet.I2CReq{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, d := newIoctlCtx(t)
			if tt.bank {
				c.sctx.Flags |= FlagI2CPageBank
			}
			if err := c.ioctl(tt.cmd, &tt.req); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if d.i2c != tt.taken || d.locked {
				t.Errorf("driver got %+v, want %+v; ctx lock held: %v", d.i2c, tt.taken, d.locked)
			}
		})
	}
}

func TestSetCap(t *testing.T) {
	const (
		rx, rx6, tx, lro = ifnet.CapRxCsum, ifnet.CapRxCsumIPv6, ifnet.CapTxCsum, ifnet.CapLRO
		wol, jumbo       = ifnet.CapWOLMagic, ifnet.CapJumboMTU
		all              = rx | rx6 | tx | lro | wol | jumbo
	)
	restart := seq(stopCalls, initCalls)
	tests := []struct {
		name      string
		supported ifnet.Caps
		on        ifnet.Caps
		req       ifnet.Caps
		want      ifnet.Caps
		calls     []string
	}{
		{"nothing changes", all, tx, tx, tx, nil},
		{"one on", all, 0, tx, tx, restart},
		{"one off", all, tx | lro, lro, lro, restart},
		{"unsupported is ignored", tx, 0, tx | lro, tx, restart},
		{"what may not change stays", all, jumbo, 0, jumbo, nil},
		{"both receive checksums go together", all, rx | rx6, rx6, 0, restart},
		{"unless one is unsupported", rx, 0, rx, rx, restart},
		{"wake-on-LAN needs no restart", all, tx, tx | wol, tx | wol, nil},
		{"MEXTPG is always supported", 0, ifnet.CapMEXTPG, 0, 0, restart},
	}
	for _, tt := range tests {
		for _, running := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				c, d := newIoctlCtx(t)
				c.scctx.Capabilities, c.scctx.Capenable = tt.supported, tt.on
				c.ifp.SetCapenable(tt.on, 0)
				want := []string(nil)
				if running {
					c.running(&d.ctlDev)
					want = tt.calls
				}
				before := c.ifp.DrvFlags()
				if err := c.ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: tt.req}); err != nil {
					t.Fatal(err)
				}
				checkCalls(t, &d.ctlDev, want)
				if c.ifp.Capenable() != tt.want || c.scctx.Capenable != tt.want {
					t.Errorf("enabled %#x, softc %#x, want %#x", c.ifp.Capenable(), c.scctx.Capenable, tt.want)
				}
				if got := c.ifp.DrvFlags(); got != before {
					t.Errorf("driver flags %#x, want %#x", got, before)
				}
			})
		}
	}
}

func TestPrivateRequests(t *testing.T) {
	c, d := newIoctlCtx(t)
	d.err = syscall.EPERM
	for _, cmd := range []ifnet.Ioctl{ifnet.IoctlGetPrivate0, ifnet.IoctlGetDrvSpec, ifnet.IoctlSetDrvSpec} {
		if err := c.ioctl(cmd, 7); !errors.Is(err, syscall.EPERM) {
			t.Errorf("%s: %v", cmd, err)
		}
		checkCalls(t, &d.ctlDev, []string{"priv_ioctl " + cmd.String() + " 7"})
		if !d.locked {
			t.Errorf("%s ran without the ctx lock", cmd)
		}
	}
}

func TestDownReason(t *testing.T) {
	c, d := newIoctlCtx(t)
	var r ifnet.DownReason
	if err := c.ioctl(ifnet.IoctlGetDownReason, &r); err != nil {
		t.Fatal(err)
	}
	if want := (ifnet.DownReason{Kind: ifnet.DownReasonMsg, Text: "no cable"}); r != want || !d.locked {
		t.Errorf("reply %+v, ctx lock held: %v", r, d.locked)
	}
}

func TestRSSRequests(t *testing.T) {
	table := func(n int, q uint16) *ifnet.RSSTable {
		tab := &ifnet.RSSTable{NumEntries: n}
		tab.Table[n/2] = q
		return tab
	}
	toeplitz := func(n int) *ifnet.RSSKey { return &ifnet.RSSKey{Func: ifnet.RSSFuncToeplitz, KeyLen: n} }
	tests := []struct {
		name  string
		cmd   ifnet.Ioctl
		data  any
		prep  func(c *ctlCtx, d *ioctlDev)
		want  error
		calls []string
	}{
		{"get key", ifnet.IoctlGetRSSKey, &ifnet.RSSKey{KeyLen: 5, Spare: 1}, nil, nil, []string{"rss_key_get"}},
		{"get a key that is too long", ifnet.IoctlGetRSSKey, &ifnet.RSSKey{},
			func(_ *ctlCtx, d *ioctlDev) { d.keyLen = 129 }, syscall.EINVAL, []string{"rss_key_get"}},
		{"get key refused", ifnet.IoctlGetRSSKey, &ifnet.RSSKey{},
			func(_ *ctlCtx, d *ioctlDev) { d.err = syscall.ENXIO }, syscall.ENXIO, []string{"rss_key_get"}},
		{"set key", ifnet.IoctlSetRSSKey, toeplitz(128), nil, nil, []string{"rss_key_set"}},
		{"set empty key", ifnet.IoctlSetRSSKey, toeplitz(0), nil, syscall.EINVAL, nil},
		{"set negative key", ifnet.IoctlSetRSSKey, toeplitz(-1), nil, syscall.EINVAL, nil},
		{"set long key", ifnet.IoctlSetRSSKey, toeplitz(129), nil, syscall.EINVAL, nil},
		{"set key of another function", ifnet.IoctlSetRSSKey, &ifnet.RSSKey{Func: ifnet.RSSFuncPrivate, KeyLen: 40}, nil, syscall.EINVAL, nil},
		{"set key with spare", ifnet.IoctlSetRSSKey, &ifnet.RSSKey{Func: ifnet.RSSFuncToeplitz, Spare: 1, KeyLen: 40}, nil, syscall.EINVAL, nil},
		{"get hash", ifnet.IoctlGetRSSHash, &ifnet.RSSHash{}, nil, nil, []string{"rss_hash_get"}},
		{"get table", ifnet.IoctlGetRSSTable, &ifnet.RSSTable{}, nil, nil, []string{"rss_table_get"}},
		{"get table of another length", ifnet.IoctlGetRSSTable, &ifnet.RSSTable{},
			func(_ *ctlCtx, d *ioctlDev) { d.entries = 63 }, syscall.EINVAL, []string{"rss_table_get"}},
		{"get table that does not fit", ifnet.IoctlGetRSSTable, &ifnet.RSSTable{},
			func(c *ctlCtx, _ *ioctlDev) { c.scctx.RSSTableSize = 512 }, syscall.EMSGSIZE, nil},
		{"set table", ifnet.IoctlSetRSSTable, table(64, 3), nil, nil, []string{"rss_table_set 64"}},
		{"set table that names no queue", ifnet.IoctlSetRSSTable, table(64, 4), nil, syscall.EINVAL, nil},
		{"set short table", ifnet.IoctlSetRSSTable, table(63, 0), nil, syscall.EINVAL, nil},
		{"set table that does not fit", ifnet.IoctlSetRSSTable, table(64, 0),
			func(c *ctlCtx, _ *ioctlDev) { c.scctx.RSSTableSize = 512 }, syscall.EMSGSIZE, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, d := newIoctlCtx(t)
			if tt.prep != nil {
				tt.prep(c, d)
			}
			if err := c.ioctl(tt.cmd, tt.data); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			checkCalls(t, &d.ctlDev, tt.calls)
			if tt.calls != nil && !d.locked {
				t.Error("called without the ctx lock")
			}
		})
	}
}

func TestRSSKeyTailIsZeroedAndTableIsCompleted(t *testing.T) {
	c, d := newIoctlCtx(t)
	key := ifnet.RSSKey{Func: ifnet.RSSFuncToeplitz, KeyLen: 2}
	for i := range key.Key {
		key.Key[i] = 0xff
	}
	if err := c.ioctl(ifnet.IoctlSetRSSKey, &key); err != nil {
		t.Fatal(err)
	}
	if want := [ifnet.RSSKeyLen]byte{0xff, 0xff}; d.key.Key != want {
		t.Errorf("driver got key % x", d.key.Key)
	}
	tab := ifnet.RSSTable{Table: [ifnet.RSSTableMaxLen]uint16{9, 9}}
	if err := c.ioctl(ifnet.IoctlGetRSSTable, &tab); err != nil {
		t.Fatal(err)
	}
	if tab.Table != [ifnet.RSSTableMaxLen]uint16{} {
		t.Error("the table's reply is not zeroed")
	}
	if tab.NQueues != 4 || tab.TableSize != 64 || tab.NumEntries != 64 {
		t.Errorf("queues %d, size %d, entries %d", tab.NQueues, tab.TableSize, tab.NumEntries)
	}
}

func TestRequestsThatTheDriverHasNoMethodFor(t *testing.T) {
	m := newCtlMachine(t, false)
	d := &ctlDev{}
	c := m.newCtx(t, 0, d, d)
	for cmd, data := range map[ifnet.Ioctl]any{
		ifnet.IoctlGetPrivate0:   1,
		ifnet.IoctlGetDrvSpec:    1,
		ifnet.IoctlSetDrvSpec:    1,
		ifnet.IoctlGetI2C:        &ifnet.I2CReq{DevAddr: 0xA0},
		ifnet.IoctlGetDownReason: &ifnet.DownReason{},
		ifnet.IoctlGetRSSKey:     &ifnet.RSSKey{},
		ifnet.IoctlSetRSSKey:     &ifnet.RSSKey{Func: ifnet.RSSFuncToeplitz, KeyLen: 1},
		ifnet.IoctlGetRSSHash:    &ifnet.RSSHash{},
		ifnet.IoctlGetRSSTable:   &ifnet.RSSTable{},
		ifnet.IoctlSetRSSTable:   &ifnet.RSSTable{},
	} {
		if err := c.ioctl(cmd, data); !errors.Is(err, syscall.EOPNOTSUPP) {
			t.Errorf("%s: %v", cmd, err)
		}
	}
}

func TestRequestsWithDataOfAnotherType(t *testing.T) {
	c, d := newIoctlCtx(t)
	for _, cmd := range []ifnet.Ioctl{
		ifnet.IoctlSetAddr, ifnet.IoctlSetMTU, ifnet.IoctlGetI2C, ifnet.IoctlSetCap, ifnet.IoctlGetDownReason,
		ifnet.IoctlGetRSSKey, ifnet.IoctlSetRSSKey, ifnet.IoctlGetRSSHash, ifnet.IoctlGetRSSTable, ifnet.IoctlSetRSSTable,
		ifnet.IoctlGetMedia,
	} {
		if err := c.ioctl(cmd, "text"); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", cmd, err)
		}
	}
	checkCalls(t, &d.ctlDev, nil)
}

func TestUnknownRequestsGoToTheGenericHandler(t *testing.T) {
	c, _ := newIoctlCtx(t)
	if err := c.ioctl(ifnet.IoctlGetPhys, nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("SIOCGIFPHYS: %v", err)
	}
	if err := c.ioctl(ifnet.IoctlSetLANPCP, uint8(3)); err != nil || c.ifp.PCP() != 3 {
		t.Errorf("SIOCSLANPCP: %v, priority %d", err, c.ifp.PCP())
	}
}
