package iflib

import "testing"

// Layers for Method: a device with a timer and an LED, one with a timer only, and two that
// stand in front of another.
type (
	plainLayer struct{ Device }
	timedLayer struct{ plainLayer }
	ledLayer   struct{ timedLayer }
	outerLayer struct {
		Device
		inner Device
	}
	thinLayer struct {
		Device
		inner Device
	}
)

func (timedLayer) Timer(int)        {}
func (ledLayer) LEDFunc(bool)       {}
func (outerLayer) Timer(int)        {}
func (outerLayer) LEDFunc(bool)     {}
func (l outerLayer) Unwrap() Device { return l.inner }
func (l thinLayer) Unwrap() Device  { return l.inner }

func TestMethodsOfAWrappedDeviceAreThoseOfTheInnermostLayer(t *testing.T) {
	for _, c := range []struct {
		name       string
		dev        Device
		timer, led bool
		mine       bool // the outer layer is called
	}{
		{"alone", ledLayer{}, true, true, false},
		{"alone, without", plainLayer{}, false, false, false},
		{"wrapped", outerLayer{inner: ledLayer{}}, true, true, true},
		{"wrapped, part", outerLayer{inner: timedLayer{}}, true, false, true},
		{"wrapped, without", outerLayer{inner: plainLayer{}}, false, false, false},
		{"thin", thinLayer{inner: ledLayer{}}, true, true, false},
		{"thin around wrapped", thinLayer{inner: outerLayer{inner: timedLayer{}}}, true, false, true},
		{"wrapped around thin", outerLayer{inner: thinLayer{inner: plainLayer{}}}, false, false, false},
	} {
		timer, ok := Method[Timer](c.dev)
		if ok != c.timer || ok != (timer != nil) {
			t.Errorf("%s: timer %v %v, want %v", c.name, timer, ok, c.timer)
		}
		if _, mine := timer.(outerLayer); ok && mine != c.mine {
			t.Errorf("%s: the call goes to %T", c.name, timer)
		}
		if led, ok := Method[LEDer](c.dev); ok != c.led || ok != (led != nil) {
			t.Errorf("%s: LED %v %v, want %v", c.name, led, ok, c.led)
		}
	}
}
