package machine

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/vlan"
)

// cloneWords are the words that say what an interface is to be; they stand behind create.
var cloneWords = map[string]func(c *ifconfig, arg string) error{
	"vlan": (*ifconfig).vlanTag, "vlandev": (*ifconfig).vlanDev, "vlanproto": (*ifconfig).vlanProto,
}

// CreateInterface makes a VLAN interface of one of the names vlan, vlan5 and em0.100 and
// runs ifconfig(8) with the words that follow (ifconfig NAME create): first those that say
// which tag it has on which parent, then as [Machine.Ifconfig]. If one of those fails the
// interface stays, and is returned with the error. The error's text is what the tool
// prints. It may sleep.
func (m *Machine) CreateInterface(name string, words []string) (*ifnet.Ifnet, IfconfigOutput, error) {
	if ifnet.ByName(m.k, name) != nil {
		return nil, IfconfigOutput{}, fmt.Errorf("interface %s already exists", name)
	}
	if len(name) > ifnet.NameMax {
		return nil, IfconfigOutput{}, fmt.Errorf("%s: cloning name too long", name)
	}
	c := &ifconfig{m: m, args: words, family: "inet", addr: noAddress}
	err := c.cloneWords()
	if err == nil {
		err = c.create(name)
	}
	if err != nil {
		return nil, c.out, err
	}
	c.leadingFamily()
	err = c.runToError()
	return c.ifp, c.out, err
}

// cloneWords takes the words that say what is to be made.
func (c *ifconfig) cloneWords() error {
	for len(c.args) > 0 {
		w := c.args[0]
		set, ok := cloneWords[w]
		if !ok {
			return nil
		}
		c.next()
		if len(c.args) == 0 {
			return usageErrorf("'%s' requires argument", w)
		}
		if err := set(c, c.next()); err != nil {
			return err
		}
	}
	return nil
}

// create makes the interface (vlan_create, and the request behind it).
func (c *ifconfig) create(name string) error {
	parent, tag, onParent := cutLast(name, '.')
	if onParent {
		if err := c.nameSays(parent, tag); err != nil {
			return err
		}
	}
	switch {
	case !strings.HasPrefix(name, "vlan"), !c.vlan.tagged && c.vlan.parent == "":
	case !c.vlan.tagged:
		return usageError("must specify a tag for vlan create")
	case c.vlan.parent == "":
		return usageError("must specify a parent device for vlan create")
	}
	ifp, err := vlan.Create(c.m.k, name)
	if err == nil && c.vlan.whole() {
		err = ifp.Ioctl(ifnet.IoctlSetVLAN, c.vlan.request())
		if err != nil {
			err = errors.Join(err, vlan.Destroy(ifp))
		}
	}
	switch {
	case errors.Is(err, syscall.EEXIST):
		return fmt.Errorf("interface %s already exists", name)
	case errors.Is(err, syscall.ENOENT): // the parent
		err = syscall.ENXIO
	}
	if err != nil {
		return requestError(fmt.Sprintf("SIOCIFCREATE2 (%s)", name), err)
	}
	c.ifp = ifp
	if ifp.Name() != name {
		c.out.Name = ifp.Name()
	}
	return nil
}

// nameSays takes parent and tag of a name as em0.100, which the words may repeat and must
// not contradict (vlan_parse_ethervid).
func (c *ifconfig) nameSays(parent, tag string) error {
	const noTag = 0xfff
	n, err := strconv.ParseUint(tag, 10, 16)
	if err != nil || n >= noTag || tag[0] == '0' {
		return usageError("invalid vlan tag")
	}
	if c.vlan.tagged && c.vlan.vid != uint16(n) || c.vlan.parent != "" && c.vlan.parent != parent {
		return usageError("ambiguous vlan specification")
	}
	c.vlan.vid, c.vlan.tagged, c.vlan.parent = uint16(n), true, parent
	return nil
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
	ifp, out, err := m.CreateInterface(form, append(args, m.rc.shWords(more)...))
	if err == nil && name != "" && ifp.Name() != name {
		_, err = m.Ifconfig(ifp, []string{"name", name})
	}
	for _, w := range out.Warnings {
		m.rcf(variable, "ifconfig: %s", strings.ReplaceAll(w, "\n", " "))
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
