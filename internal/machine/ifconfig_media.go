package machine

import (
	"errors"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl"
)

// mediaRequest is the medium that the words of a line amount to, beginning with the present
// one; they make one request at its end.
type mediaRequest struct {
	asked bool
	word  ifnet.MediaWord
}

// mediaState asks for the present medium, once (ifmedia_getstate).
func (c *ifconfig) mediaState() error {
	if c.media.asked {
		return nil
	}
	var have ifnet.MediaReq
	err := c.ifp.Ioctl(ifnet.IoctlGetXMedia, &have)
	if errors.Is(err, syscall.ENOTTY) || errors.Is(err, syscall.EINVAL) {
		err = c.ifp.Ioctl(ifnet.IoctlGetMedia, &have)
	}
	switch {
	case err != nil:
		return usageErrorf("%s: ifconfig_media_get_mediareq: %s", c.ifp.Name(), sysctl.Strerror(err))
	case have.Count == 0:
		return usageErrorf("%s: no media types?", c.ifp.Name())
	}
	c.media = mediaRequest{asked: true, word: have.Current}
	return nil
}

// mediaSubtype chooses a medium of the present instance, without options.
func (c *ifconfig) mediaSubtype(arg string) error {
	if err := c.mediaState(); err != nil {
		return err
	}
	w, ok := ifnet.ParseMediaSubtype(arg)
	if !ok {
		return usageErrorf("unknown media subtype: %s", arg)
	}
	c.media.word = c.media.word&ifnet.MediaInstMask | w
	return nil
}

// mediaOptions adds options. Half duplex is the absence of full duplex (spec ifnet 12.1).
func (c *ifconfig) mediaOptions(arg string) error {
	set, err := c.parseMediaOptions(arg)
	if err != nil {
		return err
	}
	if set&ifnet.MediaHDX != 0 {
		c.media.word &^= ifnet.MediaFDX
	}
	c.media.word |= set &^ ifnet.MediaHDX
	return nil
}

func (c *ifconfig) clearMediaOptions(arg string) error {
	clear, err := c.parseMediaOptions(arg)
	c.media.word &^= clear
	return err
}

// parseMediaOptions reads a list with commas.
func (c *ifconfig) parseMediaOptions(list string) (all ifnet.MediaWord, err error) {
	if err := c.mediaState(); err != nil {
		return 0, err
	}
	for name := range strings.SplitSeq(list, ",") {
		w, ok := ifnet.ParseMediaOption(name)
		if !ok && name != "" {
			return 0, usageErrorf("unknown option: %s", name)
		}
		all |= w
	}
	return all, nil
}

// instanceShift is the place of the instance in a media word (IFM_ISHIFT), lastInstance its
// highest value.
const (
	instanceShift = 28
	lastInstance  = 15
)

func (c *ifconfig) mediaInstance(arg string) error {
	if err := c.mediaState(); err != nil {
		return err
	}
	n := atoi(arg)
	if n < 0 || n > lastInstance {
		return usageErrorf("invalid media instance: %s", arg)
	}
	c.media.word = c.media.word&^ifnet.MediaInstMask | ifnet.MediaWord(n)<<instanceShift
	return nil
}

// mediaMode chooses a mode. Ethernet has none, which FreeBSD's tool turns into a medium that
// there is not.
func (c *ifconfig) mediaMode(string) error {
	if err := c.mediaState(); err != nil {
		return err
	}
	c.media.word = ^ifnet.MediaWord(0)
	return nil
}

// setMedia makes the request.
func (c *ifconfig) setMedia() error {
	if !c.media.asked {
		return nil
	}
	return c.request("SIOCSIFMEDIA (media)", ifnet.IoctlSetMedia, c.media.word)
}
