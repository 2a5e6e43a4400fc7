// Package busdma stands between memory and devices: it turns packets into the
// segments that a DMA engine can take, and shows a device the memory that it may
// touch. It is bus_dma(9), with the IOMMU that FreeBSD has beside it.
//
// A Tag holds what a device demands: alignment, boundary, address width,
// and size and number of segments. A Map belongs to one buffer slot and is loaded
// and unloaded by the slot's owner. What the device cannot reach as it lies is
// bounced: copied through pages that suit the tag, and counted. A View is the
// device's side.
//
// In checking mode (hw.busdma.check=1) a device reaches only what is loaded in
// some map or came from Alloc, in the direction it was loaded for; anything else is
// a Fault. Out of checking mode it reaches all of the machine's memory, as
// without an IOMMU.
//
//	tag, err := busdma.NewTag(k, busdma.TagConfig{Name: "em0 tx", Width: 64, NSegments: 40})
//	mp := tag.NewMap()
//	n, err := tag.LoadMbuf(mp, m, segs, busdma.ToDevice)
//	...                // descriptors from segs[:n], doorbell, completion
//	mp.Unload()
package busdma
