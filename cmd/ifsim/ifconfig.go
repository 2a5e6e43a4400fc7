package main

import (
	"os"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

// ifconfigHelp is the page of the tool.
const ifconfigHelp = `Shows interfaces, or with words behind an interface's name configures it. It is FreeBSD's
ifconfig(8) as far as a machine has what it is about:

    ifconfig [-dfkLmnuvDo] INTERFACE [FAMILY] [WORD ...]
    ifconfig [-a] [-dfgGkLmnuvDo] [FAMILY]
    ifconfig -l [-duo] [FAMILY]
    ifconfig -g GROUP
    ifconfig -C

The flags:

    -a          all interfaces, which is what no argument means too
    -l          their names only, in a line
    -d, -u      those that are down, or up
    -g GROUP    the members of a group; behind -a, those in a group like the pattern
    -G GROUP    behind -a: those in no group like the pattern
    -m          also what is supported: capabilities and media
    -D          also the name that the driver gave
    -v          likewise, and the transceiver module
    -C          what can be created
    -f FORMAT   how addresses are written, pairs with commas: inet:cidr, inet:dotted,
                inet6:cidr, ether:dash, ether:dotted; $IFCONFIG_FORMAT likewise
    -o json     JSON, see below; --libxo json and libxo's other spellings too
    -k, -L, -n  without effect: keys, lifetimes and modules are not there
    -j JAIL     refused: there are no jails

FAMILY is inet, inet6, or ether, link, lladdr; with it only that family is shown, of the
interfaces that have it, and words are about it. Words are executed in order, and what is
done before one that fails stays done. Media and addresses are set at the end.

    up, down, arp, debug, promisc, allmulti, monitor, staticarp, stickyarp, link0 to link2
    rxcsum, txcsum, rxcsum6, txcsum6, tso, tso4, tso6, lro, vlanmtu, vlanhwtag,
    vlanhwfilter, vlanhwcsum, vlanhwtso, wol, wol_ucast, wol_mcast, wol_magic, mextpg, ...
                capabilities; one that the interface lacks is passed over in silence
    ADDRESS[/LENGTH] [netmask MASK] [prefixlen N] [broadcast ADDRESS] [alias | -alias]
                adds an address: instead of the first IPv4 one, or with alias (add) beside
                it; -alias (delete, remove) takes it away
    eui64; accept_rtadv, auto_linklocal, ifdisabled, no_dad, no_radr, nud, ...
                of inet6
    mtu N, metric N, fib N, pcp N, name NAME, description TEXT, group NAME
    media TYPE, mediaopt OPTION[,OPTION], instance N
    create, destroy, vlan TAG, vlandev PARENT, vlanproto 802.1q | 802.1ad, vlanpcp N
                interfaces vlan (which gets a number), vlan5, em0.5

"-" in front of a word means the opposite: -promisc, -tso, -description, -group NAME,
-mediaopt OPTION, -vlandev, -pcp. A new name, of a rename or of vlan create, is printed.

In JSON {"ifconfig": {"interface": [...]}} has an object an interface:

    name, flags, metric, mtu, description, drivername
    options, capabilities    names: enabled, and with -m supported
    ether, hwaddr, pcp       station address, the burnt-in one if it is another, priority
    addresses                objects: family, address, prefixlen; netmask and broadcast of
                             inet; scopeid and flags of inet6
    groups                   names
    vlan                     tag, proto, pcp, parent
    media                    current, active, and with -m the list supported, each with
                             media, mediaopt, instance
    status                   "active", "no carrier"
    nd6-options              names

What does not apply is left out. -l gives a list of names as interface, -g as member, -C as
cloner, and a new name is a list created.

The exit status is 0, or 1 with a message: also if the interface does not exist.`

func ifconfigCommand() *cobra.Command {
	cmd := toolCommand(&cobra.Command{
		Use:   "ifconfig [-S SOCKET] [-aCdDlmuv] [-f FORMAT] [-g GROUP] [-G GROUP] [-o json] [INTERFACE [WORD ...]]",
		Short: "show and configure the interfaces of a running machine, as ifconfig(8)",
		Long:  ifconfigHelp,
		Example: `  ifsim ifconfig
  ifsim ifconfig -m em0
  ifsim ifconfig em0 inet 192.0.2.1/24 mtu 9000 -tso up
  ifsim ifconfig em0 inet6 2001:db8::1/64 alias
  ifsim ifconfig em0 media 100baseTX mediaopt full-duplex
  ifsim ifconfig em0.5 create inet 198.51.100.1/24
  ifsim ifconfig vlan create vlan 6 vlandev em0 vlanproto 802.1ad
  ifsim ifconfig -o json em0 | jq -r '.ifconfig.interface[].addresses[].address'`,
	}, ctl.CommandIfconfig)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, withIfconfigFormat(args)) }
	return cmd
}

// withIfconfigFormat puts what $IFCONFIG_FORMAT says in front of the tool's own flags, which
// a control socket may precede.
func withIfconfigFormat(args []string) []string {
	format := os.Getenv("IFCONFIG_FORMAT")
	if format == "" || helpAsked(args) {
		return args
	}
	front := 0
	if len(args) > 0 {
		switch first := args[0]; {
		case first == "-S" || first == "--socket":
			front = min(2, len(args))
		case strings.HasPrefix(first, "-S") || strings.HasPrefix(first, "--socket="):
			front = 1
		}
	}
	return slices.Concat(args[:front], []string{"-f", format}, args[front:])
}
