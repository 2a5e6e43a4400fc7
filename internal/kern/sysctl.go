package kern

import (
	"github.com/ifsim/ifsim/sysctl"
)

// Static numbers of <sys/sysctl.h>.
const (
	numOSType    = 1
	numOSRelease = 2
	numNCPU      = 3
	osRelease    = "15.0-IFSIM"
)

// registerSysctls adds the OIDs of the kernel value itself.
func (k *Kernel) registerSysctls() {
	c := k.Sysctl.StaticCtx()
	kernNode := c.Node(nil, "kern", sysctl.RW, "")
	hw := c.Node(nil, "hw", sysctl.RW, "")
	debug := c.Node(nil, "debug", sysctl.RW, "")
	constant := func(s string) sysctl.Handler {
		return func(r *sysctl.Request) error {
			_, _, err := r.HandleString(s, 0)
			return err
		}
	}
	c.Add(kernNode, sysctl.Spec{Name: "ostype", Kind: sysctl.KindString, Flags: sysctl.RD | sysctl.MPSafe,
		Static: true, Number: numOSType, Handler: constant("FreeBSD"), Descr: "Operating system type"})
	c.Add(kernNode, sysctl.Spec{Name: "osrelease", Kind: sysctl.KindString, Flags: sysctl.RD | sysctl.MPSafe,
		Static: true, Number: numOSRelease, Handler: constant(osRelease), Descr: "Operating system release"})
	c.ConstInt(kernNode, "hz", sysctl.RD, hz, "Number of clock ticks per second")
	c.FuncString(kernNode, "msgbuf", sysctl.RD|sysctl.Skip, k.Dmesg, "Contents of kernel message buffer")
	smp := c.Node(kernNode, "smp", sysctl.RD, "Kernel SMP")
	c.ConstInt(smp, "cpus", sysctl.RD, int32(k.NCPU()), "Number of CPUs online")
	c.ConstInt(smp, "threads_per_core", sysctl.RD, int32(k.threadsPerCore),
		"Number of SMT threads online per core")
	c.Add(hw, sysctl.Spec{Name: "ncpu", Kind: sysctl.KindInt, Flags: sysctl.RD | sysctl.MPSafe,
		Static: true, Number: numNCPU, Descr: "Number of active CPUs",
		Handler: func(r *sysctl.Request) error {
			_, _, err := r.HandleInt(int64(k.NCPU()))
			return err
		}})
	c.Int(debug, "bootverbose", sysctl.RW, &k.verbose, "Control the output of verbose kernel messages")
	k.registerLockSysctls(c, hw, debug)
	k.failpoints.node = c.Node(debug, "fail_point", sysctl.RW, "fail points")
	k.failpoints.ctx = c
}
