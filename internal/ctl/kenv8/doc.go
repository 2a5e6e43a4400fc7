// Package kenv8 is kenv(1), which shows and sets the kernel environment (spec ifnet 5.3).
// What is set is read by the tunables of a device that is attached afterwards.
//
//	exit := kenv8.Run(k.Env, []string{"dev.igb.0.iflib.simple_tx=1"}, os.Stdout, os.Stderr)
package kenv8
