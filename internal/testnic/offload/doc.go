// Package offload is what the models of the two test NICs have in common beyond the
// kit in drivers/hw: on the way out which requests fit a packet, on the way in the
// address filter, the hash and the checksum verdicts. It knows no descriptor format.
// FreeBSD has no counterpart.
package offload
