// Package arp8 is arp(8) on a machine: it shows, sets and deletes entries of the ARP table.
// Nothing here knows names of hosts; all are "?".
//
//	exit := arp8.Run(ctx, k, []string{"-an"}, streams)
package arp8
