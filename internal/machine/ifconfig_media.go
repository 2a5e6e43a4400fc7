package machine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
)

// mediaRequest collects the media words of a line; they make one request at its end.
type mediaRequest struct {
	asked      bool
	subtype    ifnet.MediaWord
	hasSubtype bool
	set, clear ifnet.MediaWord // options
}

func (c *ifconfig) mediaSubtype(arg string) error {
	w, ok := ifnet.ParseMediaSubtype(arg)
	if !ok {
		return usageError("unknown media subtype: " + arg)
	}
	c.media.asked, c.media.hasSubtype, c.media.subtype = true, true, w
	return nil
}

func (c *ifconfig) mediaOptions(arg string) error {
	set, clear, err := parseMediaOptions(arg)
	c.media.asked = c.media.asked || err == nil
	c.media.set |= set
	c.media.clear |= clear
	return err
}

func (c *ifconfig) clearMediaOptions(arg string) error {
	clear, _, err := parseMediaOptions(arg)
	c.media.asked = c.media.asked || err == nil
	c.media.clear |= clear
	return err
}

// parseMediaOptions reads a list with commas. Half duplex is the absence of full
// duplex (spec ifnet 12.1).
func parseMediaOptions(list string) (set, clear ifnet.MediaWord, err error) {
	for name := range strings.SplitSeq(list, ",") {
		w, ok := ifnet.ParseMediaOption(name)
		switch {
		case !ok:
			return 0, 0, usageError("unknown option: " + name)
		case w == ifnet.MediaHDX:
			clear |= ifnet.MediaFDX
		default:
			set |= w
		}
	}
	return set, clear, nil
}

// instanceShift is the place of the instance in a media word (IFM_ISHIFT).
const instanceShift = 28

func (c *ifconfig) mediaInstance(arg string) error {
	n, err := strconv.ParseUint(arg, 0, 4)
	if err != nil {
		return usageError(fmt.Sprintf("invalid instance: %s", arg))
	}
	c.media.asked = true
	c.media.set = c.media.set&^ifnet.MediaInstMask | ifnet.MediaWord(n)<<instanceShift
	c.media.clear |= ifnet.MediaInstMask
	return nil
}

// setMedia makes the request that the media words amount to. A new subtype begins
// without the options of the old one.
func (c *ifconfig) setMedia() error {
	if !c.media.asked {
		return nil
	}
	var have ifnet.MediaReq
	if err := c.ifp.Ioctl(ifnet.IoctlGetXMedia, &have); err != nil {
		return requestError("SIOCGIFXMEDIA", err)
	}
	w := have.Current
	if c.media.hasSubtype {
		w = ifnet.MediaEther | c.media.subtype
	}
	w = w&^c.media.clear | c.media.set
	if w == have.Current {
		return nil
	}
	return c.request("SIOCSIFMEDIA (media)", ifnet.IoctlSetMedia, w)
}
