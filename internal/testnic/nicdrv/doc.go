// Package nicdrv is what the drivers of the two test NICs have in common: the limits
// that they tell iflib, the one medium, the statistics and what a received packet is
// said to be. It knows no descriptor format. FreeBSD has no counterpart.
package nicdrv
