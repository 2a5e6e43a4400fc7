package machine

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
)

// addrRequest is what the words have said about an address; the end of the line sets it.
type addrRequest struct {
	add, del  netip.Addr
	link      []byte     // of the link-level families instead of add
	broadcast netip.Addr // of add; not valid: what follows from its network
	bits      int        // of add, noBits for none
	given     bool       // an address was named
	masked    bool       // a mask was
	alias     int        // 1 behind alias, -1 behind -alias
	clear     bool       // an address goes
	keep      bool       // none comes
}

const noBits = -1

// noAddress is an addrRequest to begin with.
var noAddress = addrRequest{bits: noBits}

// nextFamily ends an address of a line in rc.conf and begins one more.
func (c *ifconfig) nextFamily(name string) error {
	err := c.setAddress()
	c.family, c.addr = name, noAddress
	c.addr.alias = 1
	return err
}

// alias is what alias and -alias do (notealias).
func (c *ifconfig) alias(on bool) error {
	a := &c.addr
	if on {
		a.alias, a.clear = 1, false
		return nil
	}
	if a.given && a.alias == 0 {
		a.del = a.add
	}
	a.alias, a.clear, a.keep = -1, true, true
	return nil
}

// address takes a word that is no command: the address, then that of the other end of the
// line, which no interface here has (setifaddr, setifdstaddr).
func (c *ifconfig) address(w string) (err error) {
	a := &c.addr
	switch {
	case a.given:
		return c.destination(w)
	case c.af() == ifnet.AFLink:
		a.link, err = linkAddr(w)
	case a.alias < 0:
		a.del, err = c.parseAddr(w)
	default:
		host, length, hasLength := cutLast(w, '/')
		if hasLength {
			a.bits, err = c.width(w, length)
		}
		if err == nil {
			a.add, err = c.parseAddr(host)
		}
	}
	if err == nil {
		a.given = true
		a.clear = a.clear || a.alias == 0 && c.af() != ifnet.AFLink
	}
	return err
}

// cutLast cuts s at the last sep.
func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func (c *ifconfig) destination(w string) error {
	if c.af() == ifnet.AFLink {
		return usageError("can't set link-level netmask or broadcast")
	}
	_, err := c.parseAddr(w)
	return err
}

// parseAddr reads an address of the current family. There are no names of hosts.
func (c *ifconfig) parseAddr(w string) (netip.Addr, error) {
	if c.af() == ifnet.AFInet {
		if a, ok := inetAton(w); ok {
			return a, nil
		}
		return netip.Addr{}, usageErrorf("%s: bad value", w)
	}
	a, err := netip.ParseAddr(w)
	if err != nil || !a.Is6() || a.Is4In6() {
		return netip.Addr{}, usageErrorf("%s: bad value", w)
	}
	return a.WithZone(""), nil
}

// width reads the length behind the slash of w.
func (c *ifconfig) width(w, length string) (int, error) {
	n, err := strconv.ParseUint(length, 10, 64)
	if c.af() == ifnet.AFInet6 {
		if err != nil || n > inet6AddrBits {
			return noBits, usageErrorf("%s: bad value", length)
		}
		return int(n), nil
	}
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > inetAddrBits:
		return noBits, usageErrorf("%s: bad value (width too large)", w)
	case err != nil:
		return noBits, usageErrorf("%s: bad value (width invalid)", w)
	}
	return int(n), nil
}

// Lengths of addresses in bits.
const inetAddrBits, inet6AddrBits = 32, 128

// prefixLen sets the length of an address: IPv6 only in FreeBSD, here of either.
func (c *ifconfig) prefixLen(arg string) error {
	n := atoi(arg)
	limit := inet6AddrBits
	if c.af() == ifnet.AFInet {
		limit = inetAddrBits
	}
	if n < 0 || n > limit {
		return usageErrorf("%s: bad value", arg)
	}
	c.addr.bits = n
	return nil
}

// netmask sets the length from a mask: the number of ones in it, wherever they are.
func (c *ifconfig) netmask(arg string) error {
	if c.af() == ifnet.AFLink {
		return usageError("can't set link-level netmask or broadcast")
	}
	mask, ok := inetAton(arg)
	if !ok || c.af() != ifnet.AFInet {
		return usageErrorf("%s: bad value", arg)
	}
	b := mask.As4()
	c.addr.bits, c.addr.masked = bits.OnesCount32(binary.BigEndian.Uint32(b[:])), true
	return nil
}

// broadcast sets the broadcast address; IPv6 has none, and nobody says so.
func (c *ifconfig) broadcast(arg string) error {
	if c.af() == ifnet.AFLink {
		return usageError("can't set link-level netmask or broadcast")
	}
	a, err := c.parseAddr(arg)
	c.addr.broadcast = a
	return err
}

// eui64 fills the lower half of the address from the interface's link-local one (setip6eui64).
func (c *ifconfig) eui64() error {
	const half = 8
	if c.af() != ifnet.AFInet6 {
		return usageError("eui64 not allowed for the AF")
	}
	if !c.addr.add.Is6() {
		return usageError("could not determine link local address")
	}
	b := c.addr.add.As16()
	if [half]byte(b[half:]) != [half]byte{} {
		return usageError("interface index is already filled")
	}
	for _, a := range inet.Addrs(c.ifp) {
		if a.Scope != 0 {
			own := a.Prefix.Addr().As16()
			copy(b[half:], own[half:])
			c.addr.add = netip.AddrFrom16(b)
			return nil
		}
	}
	return usageError("could not determine link local address")
}

// setAddress takes the address away that goes and gives the interface the one that comes.
func (c *ifconfig) setAddress() error {
	a := &c.addr
	if c.ifp == nil {
		return nil
	}
	if c.af() == ifnet.AFLink {
		return c.setLinkAddr()
	}
	if a.add.IsValid() && a.bits == noBits {
		if !a.keep && a.add.Is4() && c.ifp.Flags()&(ifnet.FlagPointToPoint|ifnet.FlagLoopback) == 0 {
			c.warnf("WARNING: setting interface address without mask is deprecated,\ndefault mask may not be correct.")
		}
		a.bits = defaultBits(a.add)
	}
	if a.clear {
		err := c.clearAddress()
		if err != nil && (a.alias < 0 || !errors.Is(err, syscall.EADDRNOTAVAIL)) {
			return commandError("ioctl (SIOCDIFADDR)", err)
		}
	}
	if a.keep || !a.given && !a.masked {
		return nil
	}
	err := error(syscall.EINVAL)
	if a.add.IsValid() {
		err = inet.AddAddr(c.ifp, netip.PrefixFrom(a.add, a.bits))
	}
	if err == nil && a.broadcast.Is4() {
		err = inet.SetBroadcast(c.ifp, a.add, a.broadcast)
	}
	if err != nil {
		return commandError("ioctl (SIOCAIFADDR)", err)
	}
	return nil
}

// clearAddress takes an address away: the one that was named, else the first of IPv4, if
// there is any.
func (c *ifconfig) clearAddress() error {
	if c.addr.del.IsValid() {
		return inet.DelAddr(c.ifp, c.addr.del)
	}
	if c.af() == ifnet.AFInet6 {
		return syscall.EADDRNOTAVAIL
	}
	addrs := inet.Addrs(c.ifp)
	i := slices.IndexFunc(addrs, func(a inet.Addr) bool { return a.Prefix.Addr().Is4() })
	if i < 0 {
		return nil
	}
	return inet.DelAddr(c.ifp, addrs[i].Prefix.Addr())
}

// setLinkAddr sets the link-level address. FreeBSD names the request of the other families.
func (c *ifconfig) setLinkAddr() error {
	if c.addr.clear {
		c.warnf("interface %s cannot change %s addresses!", c.ifp.Name(), c.family)
	}
	if c.addr.keep || !c.addr.given {
		return nil
	}
	if err := c.ifp.Ioctl(ifnet.IoctlSetLLAddr, c.addr.link); err != nil {
		return commandError("ioctl (SIOCAIFADDR)", err)
	}
	return nil
}

// Bits of the first byte of a MAC address.
const (
	macGroup = 0x01
	macLocal = 0x02
)

// linkAddr reads a link-level address as link_addr(3) does: bytes in hexadecimal, with
// colons, dots or hyphens where they like. "random" is one that nobody has.
func linkAddr(w string) ([]byte, error) {
	const longest = 14 // room in a sockaddr
	if w == "random" {
		mac := make([]byte, ifnet.EtherAddrLen)
		rand.Read(mac)
		mac[0] = mac[0]&^macGroup | macLocal
		return mac, nil
	}
	var mac []byte
	for _, group := range strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune(":.-", r) }) {
		if len(group)%2 != 0 {
			group = group[:len(group)-1] + "0" + group[len(group)-1:]
		}
		b, err := hex.DecodeString(group)
		if err != nil {
			return nil, usageError("malformed link-level address")
		}
		mac = append(mac, b...)
	}
	if len(mac) == 0 || len(mac) > longest {
		return nil, usageError("malformed link-level address")
	}
	return mac, nil
}
