package sysctl

import "sync/atomic"

// The handlers of the plain flavours (spec ifnet 1.2 and 1.6).

func int32Handler(v *atomic.Int32) Handler {
	return func(r *Request) error {
		val, written, err := r.HandleInt(int64(v.Load()))
		if written {
			v.Store(int32(val))
		}
		return err
	}
}

func uint32Handler(v *atomic.Uint32) Handler {
	return func(r *Request) error {
		val, written, err := r.HandleInt(int64(v.Load()))
		if written {
			v.Store(uint32(val))
		}
		return err
	}
}

func int64Handler(v *atomic.Int64) Handler {
	return func(r *Request) error {
		val, written, err := r.HandleInt(v.Load())
		if written {
			v.Store(val)
		}
		return err
	}
}

func uint64Handler(v *atomic.Uint64) Handler {
	return func(r *Request) error {
		val, written, err := r.HandleInt(int64(v.Load()))
		if written {
			v.Store(uint64(val))
		}
		return err
	}
}

func boolHandler(v *atomic.Bool) Handler {
	return func(r *Request) error {
		cur := int64(0)
		if v.Load() {
			cur = 1
		}
		val, written, err := r.HandleInt(cur)
		if written {
			v.Store(val != 0)
		}
		return err
	}
}

func stringHandler(v *atomic.Pointer[string], limit int) Handler {
	return func(r *Request) error {
		cur := ""
		if p := v.Load(); p != nil {
			cur = *p
		}
		val, written, err := r.HandleString(cur, limit)
		if written {
			v.Store(&val)
		}
		return err
	}
}

func funcHandler(read func() uint64) Handler {
	return func(r *Request) error { return r.constant(appendNumber(nil, r.oid.kind.Size(), read())) }
}

// counterHandler takes any new value of eight bytes and zeroes the counter.
func counterHandler(read func() uint64, zero func()) Handler {
	return func(r *Request) error {
		_, written, err := r.HandleInt(int64(read()))
		if written {
			zero()
		}
		return err
	}
}
