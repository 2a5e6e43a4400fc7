package iflib

import "github.com/ifsim/ifsim/sysctl"

// LEDSupporter tells whether the LED of this device works (IFDI_LED_SUPPORTED;
// true without it). The ctx lock is held.
type LEDSupporter interface{ LEDSupported() bool }

// addLED makes the identification LED of a device that has one reachable, at
// the end of attach (spec iflib 2.16). FreeBSD makes a device for led(4); here
// it is the sysctl dev.<driver>.<unit>.ifsim.led, in ifsimNode.
func (ctx *Ctx) addLED() {
	if _, ok := Method[LEDer](ctx.dev); !ok {
		return
	}
	if d, ok := Method[LEDSupporter](ctx.dev); ok && !d.LEDSupported() {
		return
	}
	ctx.oids.Proc(ctx.ifsimNode, "led", sysctl.RW|sysctl.MPSafe, sysctl.KindU8, "", ctx.ledHandler, "identification LED")
}

func (ctx *Ctx) ledHandler(req *sysctl.Request) error {
	val, written, err := req.HandleInt(boolInt(ctx.ledState.Load()))
	if err == nil && written {
		ctx.SetLED(val != 0)
	}
	return err
}

// SetLED asks for the identification LED on or off (iflib_led_func). It does
// not sleep: the LED task tells the driver. A detaching device ignores it.
func (ctx *Ctx) SetLED(on bool) {
	ctx.stateLock.Lock()
	defer ctx.stateLock.Unlock()
	if ctx.flags.Load()&uint32(ctxInDetach) != 0 || ctx.ledTask == nil {
		return
	}
	ctx.ledState.Store(on)
	ctx.ledTask.Enqueue()
}

// ledTaskFn brings the LED to the last state asked for.
func (ctx *Ctx) ledTaskFn() {
	d, ok := Method[LEDer](ctx.dev)
	if !ok || ctx.flags.Load()&uint32(ctxInDetach) != 0 {
		return
	}
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	d.LEDFunc(ctx.ledState.Load())
}
