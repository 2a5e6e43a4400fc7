package packet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
)

const testMac = 76 // where the kernel puts a frame behind a virtio header

// filledSlot is a slot as the kernel leaves it.
func filledSlot(size, wire, snap, mac int, vnet string) []byte {
	slot := make([]byte, size)
	binary.NativeEndian.PutUint32(slot[slotLen:], uint32(wire))
	binary.NativeEndian.PutUint32(slot[slotSnapLen:], uint32(snap))
	binary.NativeEndian.PutUint16(slot[slotMac:], uint16(mac))
	binary.NativeEndian.PutUint32(slot[slotSec:], 3)
	binary.NativeEndian.PutUint32(slot[slotNsec:], 5)
	binary.NativeEndian.PutUint16(slot[slotTCI:], 0xa064)
	binary.NativeEndian.PutUint16(slot[slotTPID:], 0x88a8)
	if mac >= vnetLen && mac <= size {
		h, _ := hex.DecodeString(vnet)
		copy(slot[mac-vnetLen:], h)
		for i := mac; i < size; i++ {
			slot[i] = byte(i - mac)
		}
	}
	return slot
}

func TestSlotIsReadAsTheKernelWroteIt(t *testing.T) {
	const stamp = 3*nanosecond + 5
	const tagged = unix.TP_STATUS_USER | unix.TP_STATUS_VLAN_VALID
	tests := []struct {
		name   string
		slot   []byte
		status uint32
		data   int // bytes of data
		want   port.RxFrame
	}{
		{"plain", filledSlot(2048, 60, 60, testMac, ""), unix.TP_STATUS_USER, 60,
			port.RxFrame{Len: 60, Tstamp: stamp}},
		{"tag with its type", filledSlot(2048, 60, 60, testMac, ""), tagged | unix.TP_STATUS_VLAN_TPID_VALID, 60,
			port.RxFrame{Len: 60, Tstamp: stamp, VLANValid: true, TPIDValid: true, TCI: 0xa064, TPID: 0x88a8}},
		{"tag without type", filledSlot(2048, 60, 60, testMac, ""), tagged, 60,
			port.RxFrame{Len: 60, Tstamp: stamp, VLANValid: true, TCI: 0xa064}},
		{"type without tag", filledSlot(2048, 60, 60, testMac, ""), unix.TP_STATUS_USER | unix.TP_STATUS_VLAN_TPID_VALID, 60,
			port.RxFrame{Len: 60, Tstamp: stamp}},
		{"partial checksum and super-frame", filledSlot(8192, 7306, 7306, testMac, "01014200a80522001000"), unix.TP_STATUS_USER, 7306,
			port.RxFrame{Len: 7306, Tstamp: stamp, NeedCsum: true, CsumStart: 34, CsumOff: 16, GSOType: 1, GSOSize: 1448}},
		{"checksum known to be good", filledSlot(2048, 60, 60, testMac, "02000000000022001000"), unix.TP_STATUS_USER, 60,
			port.RxFrame{Len: 60, Tstamp: stamp}},
		{"truncated", filledSlot(2048, 9000, 1972, testMac, ""), unix.TP_STATUS_USER, 1972,
			port.RxFrame{Len: 9000, Tstamp: stamp, Truncated: true}},
		{"beyond the slot", filledSlot(2048, 9000, 1973, testMac, ""), unix.TP_STATUS_USER, 0,
			port.RxFrame{Len: 9000, Tstamp: stamp, Truncated: true}},
		{"within the header", filledSlot(2048, 60, 60, slotHeader+vnetLen-1, ""), unix.TP_STATUS_USER, 0,
			port.RxFrame{Len: 60, Tstamp: stamp, Truncated: true}},
		{"offset outside", filledSlot(2048, 60, 0, 2049, ""), unix.TP_STATUS_USER, 0,
			port.RxFrame{Len: 60, Tstamp: stamp, Truncated: true}},
		{"no slot", nil, unix.TP_STATUS_USER, 0, port.RxFrame{Truncated: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f port.RxFrame
			parseSlot(tt.slot, tt.status, &f)
			if len(f.Data) != tt.data || tt.data != 0 && !bytes.Equal(f.Data, tt.slot[testMac:testMac+tt.data]) {
				t.Errorf("%d bytes of data, want %d", len(f.Data), tt.data)
			}
			f.Data = nil
			if d := cmp.Diff(tt.want, f); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCopyBehindTheRingReplacesTheSlotsData(t *testing.T) {
	h, _ := hex.DecodeString("01014200a80522001000")
	buf := append(h, bytes.Repeat([]byte{7}, 100)...)
	for _, tt := range []struct {
		n         int // what the kernel said
		data      int
		truncated bool
	}{{110, 100, false}, {60, 50, true}, {500, 100, false}, {9, 20, true}, {0, 20, true}} {
		f := port.RxFrame{Data: make([]byte, 20), Len: 100, Truncated: true}
		takeCopy(buf, tt.n, &f)
		if len(f.Data) != tt.data || f.Truncated != tt.truncated {
			t.Errorf("%d bytes: %d of data, truncated %v", tt.n, len(f.Data), f.Truncated)
		}
		if tt.n >= vnetLen && (f.GSOSize != 1448 || !f.NeedCsum) {
			t.Errorf("%d bytes: %+v", tt.n, f)
		}
	}
}

func TestSlotsFitTheMTU(t *testing.T) {
	for mtu, want := range map[int]int{0: 2048, 68: 2048, 1500: 2048, 1902: 2048, 1903: 4096, 4000: 8192, 9000: 16384, 65536: 16384} {
		if got := slotSize(mtu); got != want {
			t.Errorf("MTU %d: %d, want %d", mtu, got, want)
		}
	}
}

func TestOnlyEthernetIsAccepted(t *testing.T) {
	for typ, ok := range map[uint16]bool{unix.ARPHRD_ETHER: true, unix.ARPHRD_LOOPBACK: true, unix.ARPHRD_NONE: false, unix.ARPHRD_IEEE80211: false} {
		if err := checkType(&link{typ: typ}); (err == nil) != ok {
			t.Errorf("type %d: %v", typ, err)
		}
	}
}

func TestNamespaceErrorsSayWhatIsMissing(t *testing.T) {
	for errno, want := range map[unix.Errno]string{
		unix.EPERM:  "namespace lab needs CAP_SYS_ADMIN: operation not permitted",
		unix.EINVAL: "lab is not a network namespace: invalid argument",
		unix.ENOMEM: "entering namespace lab: cannot allocate memory",
	} {
		if got := namespaceError("lab", errno).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzRingFrame(f *testing.F) {
	f.Add(filledSlot(256, 60, 60, testMac, "01014200a80522001000"), uint32(0x51), uint16(70))
	f.Add(filledSlot(256, 9000, 180, testMac, ""), uint32(3), uint16(9010))
	f.Add(filledSlot(64, 60, 60, 65, ""), uint32(1), uint16(0))
	f.Add([]byte{}, uint32(0xffffffff), uint16(65535))
	f.Fuzz(func(t *testing.T, slot []byte, status uint32, n uint16) {
		var fr port.RxFrame
		parseSlot(slot, status, &fr)
		checkFrame(t, &fr, status)
		takeCopy(slot, int(n), &fr)
		checkFrame(t, &fr, status)
	})
}

func checkFrame(t *testing.T, f *port.RxFrame, status uint32) {
	if !f.Truncated && len(f.Data) < f.Len {
		t.Errorf("%d of %d bytes are not truncated", len(f.Data), f.Len)
	}
	if f.VLANValid && status&unix.TP_STATUS_VLAN_VALID == 0 || f.TPIDValid && !f.VLANValid {
		t.Errorf("tag %v %v of status %#x", f.VLANValid, f.TPIDValid, status)
	}
	if f.GSOType == 0 && f.GSOSize != 0 || !f.NeedCsum && f.CsumStart != 0 {
		t.Errorf("senseless request %+v", f)
	}
}

func FuzzLinkMessage(f *testing.F) {
	f.Add(make([]byte, unix.SizeofIfInfomsg))
	f.Add(append(make([]byte, unix.SizeofIfInfomsg), 8, 0, 3, 0, 'l', 'o', 0, 0))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseLink(b)
		if err == nil && len(b) < unix.SizeofIfInfomsg {
			t.Errorf("%d bytes are a link: %+v", len(b), l)
		}
	})
}
