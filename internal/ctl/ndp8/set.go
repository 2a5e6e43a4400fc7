package ndp8

import (
	"errors"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/inaddr"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// Set makes an entry of the words that stand behind ndp -s, as rc.conf has them too. An
// error is the tool's to print; it wraps ENETUNREACH if the address is on no network of the
// machine.
func Set(k *kern.Kernel, words []string) error {
	const pair = 2
	if len(words) < pair {
		return errUsage
	}
	addr, err := address(words[0])
	if err != nil {
		return err
	}
	mac, ok := inaddr.Ether(words[1])
	if !ok {
		return tool.Messagef("invalid Ethernet address '%s'", words[1])
	}
	req := inet.NeighbourReq{Addr: addr, MAC: mac}
	for _, word := range words[pair:] { // others have no meaning to FreeBSD's tool either
		switch {
		case strings.HasPrefix(word, "temp"):
			req.Temp = true
		case strings.HasPrefix(word, "proxy"):
			return tool.Messagef("%s: not available", word)
		}
	}
	switch err := inet.AddNeighbour(k, req); {
	case errors.Is(err, syscall.ENETUNREACH):
		return tool.Sayf(err, "delete: cannot locate %s", words[0])
	case err != nil:
		return tool.Sayf(err, "set %s: %s", words[0], sysctl.Strerror(err))
	}
	return nil
}
