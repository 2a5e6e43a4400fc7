package trace

import "github.com/ifsim/ifsim/internal/probe"

// sameModel names the provider whose rules explain another's points: the models of igb
// and igc fire em's.
var sameModel = map[string]string{"e1000hw": "emhw"}

// ruleOf returns what explains a point.
func ruleOf(p probe.Point) (rule, bool) {
	provider := p.Provider
	if same, ok := sameModel[provider]; ok {
		provider = same
	}
	r, ok := rules[provider+":"+p.Name]
	return r, ok
}

// rules explain the trace points, by provider and name. The functions are FreeBSD's;
// what the hardware does has none.
var rules = map[string]rule{
	"altq:enqueue":           {byALTQ, "altq_enqueue", explainALTQEnqueue},
	"altq:dequeue":           {byALTQ, "tbr_dequeue", explainALTQDequeue},
	"altq:drop":              {byALTQ, "m_freem", explainALTQDrop},
	"altq:throttle":          {byALTQ, "tbr_dequeue", explainALTQThrottle},
	"iflib:if-transmit":      {byIflib, "if_transmit", explainTransmit},
	"iflib:txq-select":       {byIflib, "iflib_if_transmit", explainSelect},
	"iflib:mtx-acquire":      {byIflib, "iflib_simple_transmit", explainLock},
	"iflib:mtx-release":      {byIflib, "iflib_simple_transmit", explainUnlock},
	"iflib:buf-ring-enqueue": {byIflib, "buf_ring_enqueue", explainDefer},
	"mpring:reserve":         {byIflib, "ifmp_ring_enqueue", explainReserve},
	"mpring:publish":         {byIflib, "ifmp_ring_enqueue", explainPublish},
	"mpring:drain":           {byIflib, "drain_ring_lockless", explainDrain},
	"mpring:settle":          {byIflib, "drain_ring_lockless", explainSettle},
	"mpring:stall":           {byIflib, "drain_ring_lockless", explainStall},
	"iflib:encap":            {byIflib, "iflib_encap", explainEncap},
	"iflib:parse-header":     {byIflib, "iflib_parse_header", explainParse},
	"iflib:dma-segment":      {byIflib, "bus_dmamap_load_mbuf_sg", explainSegment},
	"iflib:report-check":     {byIflib, "iflib_encap", explainReport},
	"iflib:txd-encap":        {byIflib, "iflib_encap", explainTxdEncap},
	"iflib:txd-db-check":     {byIflib, "iflib_txd_db_check", explainDoorbell},
	"iflib:txd-flush":        {byIflib, "ift_txd_flush", explainFlush},
	"iflib:credits-update":   {byIflib, "ift_txd_credits_update", explainCredits},
	"iflib:tx-reclaim-none":  {byIflib, "iflib_completed_tx_reclaim", explainReclaimNone},
	"iflib:tx-free":          {byIflib, "iflib_tx_desc_free", explainFree},
	"iflib:tx-reclaim":       {byIflib, "iflib_completed_tx_reclaim", explainReclaim},
	"iflib:intr-filter":      {byIflib, "iflib_fast_intr_rxtx", explainFilter},
	"iflib:tx-task":          {byIflib, "_task_fn_tx", explainTask},
	"em:txd-write":           {byDriver, "em_isc_txd_encap", explainDescWrite},
	"igb:txd-write":          {byDriver, "igb_isc_txd_encap", explainDescWrite},
	"emhw:reg-write":         {byDriver, "E1000_WRITE_REG", explainRegWrite},
	"emhw:reg-read":          {byDriver, "E1000_READ_REG", explainRegRead},
	"emhw:desc-fetch":        {byHardware, "descriptor fetch", explainFetch},
	"emhw:gather":            {byHardware, "DMA of the packet", explainGather},
	"hw:port-send":           {byPort, "to the wire", explainSend},
	"emhw:write-back":        {byHardware, "descriptor write-back", explainWriteBack},
	"emhw:head":              {byHardware, "TDH", explainHead},
	"emhw:tx-delay":          {byHardware, "TIDV timer", explainDelay},
	"emhw:cause":             {byHardware, "ICR", explainCause},
	"emhw:msix-vector":       {byHardware, "MSI-X message", explainVector},
	"emhw:interrupt-line":    {byHardware, "interrupt", explainLine},
}
