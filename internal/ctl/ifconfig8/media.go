package ifconfig8

import (
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
)

// media shows the media, the status and, with -m, what is supported. An interface
// without media has none of these lines.
func (c *command) media(ifp *ifnet.Ifnet) {
	req, ok := queryMedia(ifp)
	if !ok {
		return
	}
	if req.Count == 0 {
		fmt.Fprintf(c.stderr, "ifconfig: %s: no media types?\n", ifp.Name())
		return
	}
	c.printf("\tmedia: Ethernet %s", req.Current.Name())
	if req.Active != req.Current {
		c.printf(" (%s)", req.Active.Name())
	}
	if n := req.Current.Instance(); n != 0 {
		c.printf(" instance %d", n)
	}
	c.printf("\n")
	if req.Status&ifnet.MediaAValid != 0 {
		c.printf("\tstatus: %s\n", linkStatus(ifp, req.Status))
	}
	if !c.supported {
		return
	}
	c.printf("\tsupported media:\n")
	for _, w := range req.List {
		c.printf("\t\tmedia %s", w.SubtypeName())
		if opts := w.Options(); len(opts) > 0 {
			c.printf(" mediaopt %s", strings.Join(opts, ","))
		}
		if n := w.Instance(); n != 0 {
			c.printf(" instance %d", n)
		}
		c.printf("\n")
	}
}

// queryMedia asks for the number of entries, then for the list, as the tool does; one
// without extended subtypes is asked the old way.
func queryMedia(ifp *ifnet.Ifnet) (req ifnet.MediaReq, ok bool) {
	cmd := ifnet.IoctlGetXMedia
	if err := ifp.Ioctl(cmd, &req); err != nil {
		cmd, req = ifnet.IoctlGetMedia, ifnet.MediaReq{}
		if err := ifp.Ioctl(cmd, &req); err != nil {
			return req, false
		}
	}
	if req.Count == 0 {
		return req, true
	}
	full := ifnet.MediaReq{Count: req.Count}
	if err := ifp.Ioctl(cmd, &full); err != nil {
		return req, true
	}
	return full, true
}

// linkStatus is the text of a known status: with no carrier, why, if the driver says.
func linkStatus(ifp *ifnet.Ifnet, s ifnet.MediaStatus) string {
	if s&ifnet.MediaActive != 0 {
		return "active"
	}
	const text = "no carrier"
	var why ifnet.DownReason
	if err := ifp.Ioctl(ifnet.IoctlGetDownReason, &why); err != nil {
		return text
	}
	switch why.Kind {
	case ifnet.DownReasonMsg:
		return fmt.Sprintf("%s (%s)", text, why.Text)
	case ifnet.DownReasonVendor:
		return fmt.Sprintf("%s (vendor code %d)", text, why.Vendor)
	}
	return text
}
