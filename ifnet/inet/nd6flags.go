package inet

// ND6NoRADR is kept and shown, without effect: no default router comes from
// advertisements anyway (ND6_IFF_NO_RADR).
const ND6NoRADR ND6Flags = 0x40
