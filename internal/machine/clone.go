package machine

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/vlan"
	"github.com/ifsim/ifsim/sysctl"
)

// CreateInterface makes a VLAN interface of one of the names vlan, vlan5 and em0.100 and
// runs ifconfig(8) with the words that follow (ifconfig NAME create). If one fails the
// interface goes away again. The error's text is what the tool prints. It may sleep.
func (m *Machine) CreateInterface(name string, words []string) (*ifnet.Ifnet, error) {
	if ifnet.ByName(m.k, name) != nil {
		return nil, fmt.Errorf("interface %s already exists", name)
	}
	ifp, err := vlan.Create(m.k, name)
	if err != nil {
		return nil, requestError(fmt.Sprintf("SIOCIFCREATE2 (%s)", name), err)
	}
	if err := m.Ifconfig(ifp, words); err != nil {
		return nil, fmt.Errorf("%w%s", err, destroyed(ifp))
	}
	return ifp, nil
}

// destroyed takes a VLAN interface away again; the text is empty if that went well.
func destroyed(ifp *ifnet.Ifnet) string {
	if err := vlan.Destroy(ifp); err != nil {
		return "; " + sysctl.Strerror(err)
	}
	return ""
}

// DestroyInterface takes a VLAN interface away (ifconfig NAME destroy). The error's text is
// what the tool prints. It may sleep.
func (m *Machine) DestroyInterface(ifp *ifnet.Ifnet) error {
	if err := vlan.Destroy(ifp); err != nil {
		return requestError("SIOCIFDESTROY", err)
	}
	m.forgetInet6(ifp.Name())
	return nil
}

// startClones makes the interfaces of cloned_interfaces (clone_up).
func (m *Machine) startClones() {
	list, _ := m.rc.Get("cloned_interfaces")
	for _, name := range m.rc.shWords(list) {
		m.clone("cloned_interfaces", name, "", nil)
	}
}

// clone makes an interface of a form that CreateInterface takes and calls it name, or
// leaves it the one it has. The words of its create_args_ variable stand behind args. It
// reports whether the interface is there. What goes wrong is a warning about the variable
// that asks for it.
func (m *Machine) clone(variable, form, name string, args []string) bool {
	if name != "" && ifnet.ByName(m.k, name) != nil {
		return true
	}
	more, _ := m.rc.Get(createArgsPrefix + rcInterface(cmp.Or(name, form)))
	ifp, err := m.CreateInterface(form, append(args, m.rc.shWords(more)...))
	if err == nil && name != "" && ifp.Name() != name {
		err = m.Ifconfig(ifp, []string{"name", name})
	}
	if err != nil {
		m.rcf(variable, "ifconfig: %v", err)
	}
	return err == nil
}

// startChildren makes and starts the interfaces of vlans_<if> (childif_create): a number is
// a tag and names em0.5, any other word is the name of an interface whose tag create_args
// has.
func (m *Machine) startChildren(parent *ifnet.Ifnet) {
	variable := vlansPrefix + rcInterface(parent.Name())
	list, _ := m.rc.Get(variable)
	for _, child := range m.rc.shWords(list) {
		form, args := child, []string{"vlandev", parent.Name()}
		switch {
		case strings.Trim(child, "0123456789") == "":
			child = parent.Name() + "." + child
			form, args = child, nil
		case !strings.HasPrefix(child, "vlan"):
			form = "vlan"
		}
		if m.clone(variable, form, child, args) {
			m.startInterface(ifnet.ByName(m.k, child))
		}
	}
}

// Beginnings of the variables that put VLANs on interfaces and say how to make one.
const (
	vlansPrefix      = "vlans_"
	createArgsPrefix = "create_args_"
)
