// Command skelboot boots a machine that has skel, as ifsim boot does without it:
//
//	go run ./skelboot skelboot/lab
package main

import (
	"github.com/ifsim/ifsim/cmd/ifsim/boot"
	"github.com/ifsim/ifsim/drivers/skel"
	"github.com/ifsim/ifsim/drivers/skel/skelhw"
)

func main() { boot.Main(boot.Device{Driver: &skel.Driver, Hardware: skelhw.New}) }
