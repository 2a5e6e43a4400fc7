// Package route8 is route(8) on a machine: it adds, changes, deletes and shows routes. What
// FreeBSD's tool knows of sockets, jails and further routing tables is not here.
//
//	exit := route8.Run(ctx, k, []string{"add", "-net", "10.0.0.0/8", "192.0.2.1"}, streams)
//
// The words behind its commands stand in rc.conf too; for that there is [Parse].
package route8
