// Package trace shows what a transmit does, step by step: it boots a machine in the
// stepped executor on the manual clock, sends packets one at a time and tells each trace
// point that fires as FreeBSD's function, what changed since the last one, and why. It
// is to dtrace -n 'fbt::iflib_*:entry' what a commented listing is to a disassembly.
//
// The same machine gives the same text, so the text can be a golden file.
//
//	res, err := trace.Run(trace.Config{Files: os.DirFS("docs/labs/first")})
//	if err != nil {
//		return err
//	}
//	return res.WriteText(os.Stdout)
package trace
