package busdma

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/internal/physmem"
)

// Seg is one piece of a loaded buffer as the device sees it (bus_dma_segment_t).
type Seg struct {
	Addr physmem.Addr
	Len  uint64 // bytes
}

// Dir says which way data goes. A buffer may be loaded for both.
type Dir uint8

// The directions, from the point of view of memory.
const (
	ToDevice      Dir = 1 << iota // the device reads memory: transmit
	FromDevice                    // the device writes memory: receive
	Bidirectional = ToDevice | FromDevice
)

// String names the access that a device makes.
func (d Dir) String() string {
	switch d {
	case ToDevice:
		return "read"
	case FromDevice:
		return "write"
	case Bidirectional:
		return "read and write"
	}
	return fmt.Sprintf("dir(%d)", uint8(d))
}

// Op is a set of synchronisation operations (bus_dmasync_op_t).
type Op uint8

// The operations, with the values of BUS_DMASYNC_*.
const (
	PreRead   Op = 1 << iota // before the device writes memory
	PostRead                 // after the device wrote memory
	PreWrite                 // before the device reads memory
	PostWrite                // after the device read memory
)

// Map is the loading of one buffer (bus_dmamap_t). It belongs to the owner of
// the buffer's slot, who calls its methods and the loads of the tag; it has no lock.
type Map struct {
	tag    *Tag
	loaded bool
	dir    Dir

	bounce []bounced // pages in use; the slice is kept from load to load
	mapped []Seg     // what checking mode has counted in its table; kept as well
	synced bool      // pages were copied in since the last load
}

// Loaded reports whether a buffer is loaded.
func (mp *Map) Loaded() bool { return mp.loaded }

// Bounced returns the number of pages through which the loaded buffer is bounced.
func (mp *Map) Bounced() int { return len(mp.bounce) }

// Destroy gives the map back. The error wraps EBUSY while a buffer is loaded
// (bus_dmamap_destroy(9)).
func (mp *Map) Destroy() error {
	if mp.loaded {
		return fmt.Errorf("busdma: destroying a loaded map of %s: %w", mp.tag.cfg.Name, syscall.EBUSY)
	}
	mp.tag.users.Add(-1)
	mp.tag.st.maps.Add(-1)
	return nil
}

// Sync makes the buffer what the side that touches it next must see
// (bus_dmamap_sync(9)). Memory is coherent, so only bounced buffers have work:
// PreWrite copies the buffer into its pages, PostRead the pages into the buffer.
// A load for ToDevice copies in as PreWrite does, and Unload copies out what no
// PostRead has, so a buffer that is not touched while loaded needs no Sync.
func (mp *Map) Sync(op Op) {
	if len(mp.bounce) != 0 {
		mp.syncPages(op)
	}
}

func (mp *Map) syncPages(op Op) {
	mem := mp.tag.st.k.Mem
	if op&PreWrite != 0 && mp.dir&ToDevice != 0 {
		for _, b := range mp.bounce {
			b.out(mem)
		}
	}
	if op&PreRead != 0 {
		mp.synced = false
	}
	if op&PostRead != 0 && mp.dir&FromDevice != 0 {
		for _, b := range mp.bounce {
			b.in(mem)
		}
		mp.synced = true
	}
}

// Unload ends the device's access to the buffer (bus_dmamap_unload(9)). Unloading
// a map that is not loaded does nothing.
func (mp *Map) Unload() {
	if mp.loaded && (len(mp.bounce) != 0 || mp.tag.table != nil) {
		mp.release()
	}
	mp.loaded = false
}

// release ends checks and bouncing. The device loses access first, so that
// nothing it writes later is believed to have arrived.
func (mp *Map) release() {
	if mp.tag.table != nil {
		mp.forget()
	}
	if !mp.synced {
		mp.syncPages(PostRead)
	}
	mp.returnPages()
}

func (mp *Map) returnPages() {
	for _, b := range mp.bounce {
		mp.tag.zone.put(b.page)
	}
	mp.bounce = mp.bounce[:0]
	mp.synced = false
}

// record counts the segments of a load in the table of checking mode.
func (mp *Map) record(segs []Seg) {
	mp.mapped = append(mp.mapped[:0], segs...)
	for _, s := range segs {
		mp.tag.table.add(s, mp.dir)
	}
	mp.tag.st.loaded.Add(1)
}

// forget takes them out again.
func (mp *Map) forget() {
	for _, s := range mp.mapped {
		mp.tag.table.remove(s, mp.dir)
	}
	mp.mapped = mp.mapped[:0]
	mp.tag.st.loaded.Add(-1)
}
