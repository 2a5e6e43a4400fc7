package iflib

// Wrapper is implemented by a Device or a TxRx that stands in front of another one of the
// same type L, to look at the calls or to change them. iflib finds optional methods
// through it (Method), so that it does not hide what it does not have.
type Wrapper[L any] interface{ Unwrap() L }

// Method finds an optional method of a device or a data path, as iflib does at attach. A
// wrapper has what the innermost layer has, no more: the call goes to the outermost layer
// that implements it.
func Method[T, L any](layer L) (method T, ok bool) {
	var found bool
	for {
		m, has := any(layer).(T)
		if has && !found {
			method, found = m, true
		}
		w, wraps := any(layer).(Wrapper[L])
		if wraps {
			layer = w.Unwrap()
			continue
		}
		if !has {
			var none T
			return none, false
		}
		return method, true
	}
}
