package ifconfig8

import (
	"fmt"

	"github.com/ifsim/ifsim/ifnet"
)

// media is what an interface says of its media.
type media struct {
	ifnet.MediaReq
	carrier string // "" if it is not known
}

// mediaOf asks an interface for its media; nil: it has none.
func mediaOf(ifp *ifnet.Ifnet) *media {
	req, ok := queryMedia(ifp)
	if !ok {
		return nil
	}
	m := &media{MediaReq: req}
	if req.Status&ifnet.MediaAValid != 0 {
		m.carrier = carrier(ifp, req.Status)
	}
	return m
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

// carrier is the text of a known status: with no carrier, why, if the driver says.
func carrier(ifp *ifnet.Ifnet, s ifnet.MediaStatus) string {
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
