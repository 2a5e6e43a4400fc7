package packet

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
)

// Offsets in a TPACKET_V2 slot (spec ports 5.5). The status word, at 0, is read apart.
const (
	slotLen     = 4
	slotSnapLen = 8
	slotMac     = 12
	slotSec     = 16
	slotNsec    = 20
	slotTCI     = 24
	slotTPID    = 26
	slotHeader  = unix.SizeofTpacket2Hdr
)

// Offsets in struct virtio_net_hdr, whose fields are little-endian.
const (
	vnetFlags     = 0
	vnetGSOType   = 1
	vnetGSOSize   = 4
	vnetCsumStart = 6
	vnetCsumOff   = 8
	vnetLen       = 10
)

const nanosecond = 1_000_000_000 // of these make a second

// parseSlot makes f the frame of a slot that the kernel has filled. Nothing in the slot
// is trusted: what points outside gives a frame without data that is truncated.
func parseSlot(slot []byte, status uint32, f *port.RxFrame) {
	*f = port.RxFrame{Truncated: true}
	if len(slot) < slotHeader {
		return
	}
	f.Len = int(binary.NativeEndian.Uint32(slot[slotLen:]))
	f.Tstamp = int64(binary.NativeEndian.Uint32(slot[slotSec:]))*nanosecond +
		int64(binary.NativeEndian.Uint32(slot[slotNsec:]))
	if f.VLANValid = status&unix.TP_STATUS_VLAN_VALID != 0; f.VLANValid {
		f.TCI = binary.NativeEndian.Uint16(slot[slotTCI:])
		if f.TPIDValid = status&unix.TP_STATUS_VLAN_TPID_VALID != 0; f.TPIDValid {
			f.TPID = binary.NativeEndian.Uint16(slot[slotTPID:])
		}
	}
	mac := int(binary.NativeEndian.Uint16(slot[slotMac:]))
	snap := int(binary.NativeEndian.Uint32(slot[slotSnapLen:]))
	if mac < slotHeader+vnetLen || mac > len(slot) || snap < 0 || snap > len(slot)-mac {
		return
	}
	f.Data = slot[mac : mac+snap : mac+snap]
	f.Truncated = snap < f.Len
	parseVnet(slot[mac-vnetLen:mac], f)
}

// parseVnet takes over what the virtio header of a frame asks for. b has vnetLen bytes.
func parseVnet(b []byte, f *port.RxFrame) {
	f.CsumStart, f.CsumOff, f.GSOSize = 0, 0, 0
	if f.NeedCsum = b[vnetFlags]&unix.VIRTIO_NET_HDR_F_NEEDS_CSUM != 0; f.NeedCsum {
		f.CsumStart = binary.LittleEndian.Uint16(b[vnetCsumStart:])
		f.CsumOff = binary.LittleEndian.Uint16(b[vnetCsumOff:])
	}
	if f.GSOType = b[vnetGSOType]; f.GSOType != unix.VIRTIO_NET_HDR_GSO_NONE {
		f.GSOSize = binary.LittleEndian.Uint16(b[vnetGSOSize:])
	}
}

// takeCopy makes f the frame in buf, of which the kernel says that it has n bytes with its
// virtio header. The rest of f comes from the slot.
func takeCopy(buf []byte, n int, f *port.RxFrame) {
	if n < vnetLen || len(buf) < vnetLen {
		return
	}
	end := min(n, len(buf))
	f.Data = buf[vnetLen:end:end]
	f.Truncated = len(f.Data) < f.Len
	parseVnet(buf[:vnetLen], f)
}
