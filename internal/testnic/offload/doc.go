// Package offload is what the models of the two test NICs have in common beyond the
// kit in drivers/hw: on the way out which requests fit a packet, on the way in the
// receive work with address filter, hash and checksum verdicts, and the statistics
// registers. It knows no descriptor format. FreeBSD has no counterpart.
package offload
