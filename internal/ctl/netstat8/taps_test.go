package netstat8

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/internal/ctl/tool/tooltest"
)

func TestListenersAreShownAsFreeBSDDoes(t *testing.T) {
	h := tooltest.NewHost(t)
	h.Want(run, "-B", "", "", 0)
	h.Want(run, "-B -o json", `{"__version": "1", "bpf-statistics": {"bpf-entry": []}}`+"\n", "", 0)
	h.NIC("em", 0)
	h.NIC("igb", 1)
	for name, c := range map[string]bpf.Config{
		"em0":  {Owner: "tcpdump", Promisc: true, Direction: bpf.Out},
		"igb1": {Owner: "shell", Direction: bpf.In},
	} {
		l, err := bpf.Open(h.K, ifnet.ByName(h.K, name), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	const header = "  Pid  Netif   Flags      Recv      Drop     Match Sblen Hblen Command\n"
	h.Want(run, "-B -I em0", header+"    0    em0 pifo---         0         0         0     0     0 tcpdump\n", "", 0)
	h.Want(run, "-BI igb1", header+"    0   igb1 -if----         0         0         0     0     0 shell\n", "", 0)
	h.Want(run, "-B -I em7", header, "", 0)
	h.Want(run, "-B -I em0 --libxo json", `{"__version": "1", "bpf-statistics": {"bpf-entry": [{"pid":0,"interface-name":"em0","promiscuous":"","immediate":"","direction":"output","received-packets":0,"dropped-packets":0,"filter-packets":0,"store-buffer-length":0,"hold-buffer-length":0,"process":"tcpdump"}]}}`+"\n", "", 0)
}
