package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func dumpCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "dump [-S SOCKET] [-a] [-o json] [DEVICE...]",
		Short: "show the rings, registers and packet buffers of a running machine",
		Long: `Shows what the NICs of a running machine hold, all of them or those named:

    its state      running, link, the path that sends, the ledger of packets each way
    its queues     indices as their sysctls have them, the state of the mp_ring
    their rings    each descriptor: its index, whose it is (driver; hardware; done:
                   completed and not taken back; unrung: waiting for a doorbell), its
                   words, what they mean, and the indices that point to it
    its registers  by the datasheet's names, with the names of the bits that are set; those
                   that reading would change are not read

and who has every packet buffer of the machine that is in use: rings, soft rings, send
queues, neighbours that are not known yet. What is in use and nobody has is "unaccounted
for": a leak, or a packet that was on its way. On a machine that is idle it is none.

    -a       all descriptors; without it those that go on like the ones before are counted
    -o json  JSON, without empty descriptors unless there is -a

A queue is looked at by becoming its owner for a moment, as a sender or its task does. One
that stays busy is shown as it was last published, and marked so.

The exit status is 0, or 1 for a usage error or a device that is not attached.`,
		Example: `  ifsim dump
  ifsim dump em0
  ifsim dump -o json em0 | jq '.mbufs.unaccounted'`,
	}, ctl.CommandDump)
}
