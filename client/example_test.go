package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ifsim/ifsim/client"
)

// A tool is run, and its failure looked at. The machine's socket is given here; scripts
// leave it empty.
func Example() {
	path, down := boot()
	defer down()

	ctx := context.Background()
	m, err := client.New(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := m.Run(ctx, "kenv", "hint.em.1.port")
	fmt.Print(string(r.Stdout))
	_, err = m.Run(ctx, "ifconfig", "em7", "up")
	if exit := (*client.Exit)(nil); errors.As(err, &exit) {
		fmt.Println(exit, exit.Status)
	}
	// Output:
	// pair:t
	// ifconfig: interface em7 does not exist 1
}

func ExampleClient_Sysctl() {
	m, down := running()
	defer down()

	ctx := context.Background()
	if err := m.SetSysctl(ctx, "dev.em.0.iflib.tx_abdicate", "1"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(m.Sysctl(ctx, "dev.em.0.iflib.tx_abdicate"))
	// Output: 1 <nil>
}

// Frames are sent, and the other end's counters tell that they came.
func ExampleClient_Pktgen() {
	m, down := running()
	defer down()

	ctx := context.Background()
	sent, err := m.Pktgen(ctx, client.PktgenParams{Interface: "em0", Frames: 1000, Size: 60})
	fmt.Println(sent.Frames, err)
	// Output: 1000 <nil>
}

// A tool that goes on shows what it prints as it comes; here the second report ends it.
func ExampleClient_Follow() {
	m, down := running()
	defer down()

	ctx, cancel := context.WithCancel(context.Background())
	reports := 0
	err := m.Follow(ctx, func(client.Result) {
		if reports++; reports == 2 {
			cancel()
		}
	}, "vmstat", "-i", "-w", "0.1")
	fmt.Println(reports, err)
	// Output: 2 context canceled
}

func ExampleClient_JSON() {
	m, down := running()
	defer down()

	var info struct{ Status string }
	err := m.JSON(context.Background(), &info, "pfctl", "-s", "info", "-o", "json")
	fmt.Println(info.Status, err)
	// Output: Disabled <nil>
}
