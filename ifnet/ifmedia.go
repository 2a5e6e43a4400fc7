package ifnet

import (
	"fmt"
	"sync"
	"syscall"
)

// MediaEntry is one supported medium (struct ifmedia_entry).
type MediaEntry struct {
	Word MediaWord
	Data int // the driver's own
}

// Media is an interface's media: what is supported, what is chosen, and the driver's
// callbacks (struct ifmedia, spec ifnet 9). Any goroutine; the callbacks run without
// its lock, so that they may take the driver's.
type Media struct {
	mask   MediaWord
	change func() error
	status func(req *MediaReq)

	mu   sync.Mutex
	list []MediaEntry // newest first
	word MediaWord    // what was asked for, don't-care bits included (ifm_media)
	cur  MediaWord    // the entry that matched it (ifm_cur)
	set  bool         // both are valid
}

// NewMedia makes an empty object (ifmedia_init). dontcare are bits that do not count
// when a request is compared with an entry. change programs the hardware for the
// current entry; status fills Active and Status. Either may be nil.
func NewMedia(dontcare MediaWord, change func() error, status func(*MediaReq)) *Media {
	return &Media{mask: dontcare, change: change, status: status}
}

// Add puts a medium at the head of the list (ifmedia_add).
func (md *Media) Add(w MediaWord, data int) {
	md.mu.Lock()
	defer md.mu.Unlock()
	md.list = append([]MediaEntry{{w, data}}, md.list...)
}

// RemoveAll empties the list (ifmedia_removeall).
func (md *Media) RemoveAll() {
	md.mu.Lock()
	defer md.mu.Unlock()
	md.list, md.set = nil, false
}

// Set chooses a medium without calling change (ifmedia_set). A word that is not in
// the list is a broken invariant.
func (md *Media) Set(w MediaWord) {
	md.mu.Lock()
	defer md.mu.Unlock()
	e, ok := md.match(w)
	if !ok {
		panic(fmt.Sprintf("ifmedia_set: no match for 0x%x/0x%x", uint32(w), uint32(^md.mask)))
	}
	md.word, md.cur, md.set = w, e.Word, true
}

// match finds the entry equal to w outside the mask; the last of the list wins.
func (md *Media) match(w MediaWord) (found MediaEntry, ok bool) {
	for _, e := range md.list {
		if (e.Word^w)&^md.mask == 0 {
			found, ok = e, true
		}
	}
	return found, ok
}

// Current is the chosen entry's word, MediaNone if there is none yet.
func (md *Media) Current() MediaWord {
	md.mu.Lock()
	defer md.mu.Unlock()
	return md.current()
}

func (md *Media) current() MediaWord {
	if !md.set {
		return MediaNone
	}
	return md.cur
}

// Requested is the medium as it was asked for, with the bits that do not count in the
// comparison (ifm_media): what a change callback reads.
func (md *Media) Requested() MediaWord {
	md.mu.Lock()
	defer md.mu.Unlock()
	if !md.set {
		return MediaNone
	}
	return md.word
}

// Entry is the chosen entry; false if there is none yet.
func (md *Media) Entry() (MediaEntry, bool) {
	md.mu.Lock()
	defer md.mu.Unlock()
	if !md.set {
		return MediaEntry{}, false
	}
	return md.match(md.cur)
}

// Entries are the supported media, newest first.
func (md *Media) Entries() []MediaEntry {
	md.mu.Lock()
	defer md.mu.Unlock()
	return append([]MediaEntry(nil), md.list...)
}

// Ioctl serves IoctlSetMedia, IoctlGetMedia and IoctlGetXMedia (ifmedia_ioctl).
// ENXIO: an unlisted medium; E2BIG: the list does not fit Count; EINVAL: another
// request. An error of the change callback is returned and the choice restored.
func (md *Media) Ioctl(cmd Ioctl, data any) error {
	switch cmd {
	case IoctlSetMedia:
		w, ok := data.(MediaWord)
		if !ok {
			return badData(cmd, data)
		}
		return md.choose(w)
	case IoctlGetMedia, IoctlGetXMedia:
		req, ok := data.(*MediaReq)
		if !ok {
			return badData(cmd, data)
		}
		return md.query(req, cmd == IoctlGetXMedia)
	}
	return fmt.Errorf("%s to the media object: %w", cmd, syscall.EINVAL)
}

func (md *Media) choose(w MediaWord) error {
	md.mu.Lock()
	e, ok := md.match(w)
	if !ok {
		md.mu.Unlock()
		return fmt.Errorf("setting media %#x, which is not supported: %w", uint32(w), syscall.ENXIO)
	}
	oldWord, oldCur, oldSet := md.word, md.cur, md.set
	if oldSet && w == oldWord && e.Word == oldCur && w.Subtype() != MediaAuto {
		md.mu.Unlock()
		return nil
	}
	md.word, md.cur, md.set = w, e.Word, true
	md.mu.Unlock()
	if md.change == nil {
		return nil
	}
	if err := md.change(); err != nil {
		md.mu.Lock()
		md.word, md.cur, md.set = oldWord, oldCur, oldSet
		md.mu.Unlock()
		return fmt.Errorf("setting media %s: %w", w.Name(), err)
	}
	return nil
}

func (md *Media) query(req *MediaReq, extended bool) error {
	want := req.Count
	md.mu.Lock()
	cur, list := md.current(), md.list
	md.mu.Unlock()
	if want < 0 {
		return fmt.Errorf("asking for %d media: %w", want, syscall.EINVAL)
	}
	*req = MediaReq{Current: cur, Active: cur, Mask: md.mask, Count: len(list)}
	if md.status != nil {
		md.status(req)
		req.Count = len(list)
	}
	if !extended {
		req.Current, req.Active = foldExtended(req.Current), foldExtended(req.Active)
	}
	if want == 0 {
		return nil
	}
	n := min(want, len(list))
	req.List = make([]MediaWord, n)
	for i := range n {
		req.List[i] = list[i].Word
	}
	if want < len(list) {
		return fmt.Errorf("copying %d of %d media: %w", n, len(list), syscall.E2BIG)
	}
	return nil
}

// mediaExtended are the bits of subtypes that need an extended number (IFM_ETH_XSHIFT).
const mediaExtended MediaWord = 0x7800

// foldExtended shows an extended subtype as Other, for readers that do not know them.
func foldExtended(w MediaWord) MediaWord {
	if w&MediaTypeMask == MediaEther && w&mediaExtended != 0 {
		return w&^MediaSubtypeMask | MediaOther
	}
	return w
}

// badData is the refusal of a request whose data is not of its type.
func badData(cmd Ioctl, data any) error {
	return fmt.Errorf("%s with data of type %T: %w", cmd, data, syscall.EINVAL)
}
