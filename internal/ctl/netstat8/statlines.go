package netstat8

// ipLines are those of ip_stats.
var ipLines = []statLine{
	{counter: "total", json: "received-packets", text: "total packet%s received"},
	{counter: "badsum", json: "dropped-bad-checksum", text: "bad header checksum%s"},
	{counter: "toosmall", json: "dropped-below-minimum-size", text: "with size smaller than minimum"},
	{counter: "tooshort", json: "dropped-short-packets", text: "with data size < data length"},
	{json: "dropped-too-long", text: "with ip length > max ip packet size"},
	{counter: "badhlen", json: "dropped-short-header-length", text: "with header length < data size"},
	{counter: "badlen", json: "dropped-short-data", text: "with data length < header length"},
	{counter: "badoptions", json: "dropped-bad-options", text: "with bad options"},
	{counter: "badvers", json: "dropped-bad-version", text: "with incorrect version number"},
	{counter: "fragments", json: "received-fragments", text: "fragment%s received"},
	{counter: "fragdropped", json: "dropped-fragments", text: "fragment%s dropped (dup or out of space)"},
	{json: "dropped-fragments-after-timeout", text: "fragment%s dropped after timeout"},
	{json: "reassembled-packets", text: "packet%s reassembled ok"},
	{counter: "delivered", json: "received-local-packets", text: "packet%s for this host"},
	{counter: "noproto", json: "dropped-unknown-protocol", text: "packet%s for unknown/unsupported protocol"},
	{counter: "forward", json: "forwarded-packets", text: "packet%s forwarded", more: &statLine{json: "fast-forwarded-packets", text: "packet%s fast forwarded"}},
	{counter: "cantforward", json: "packets-cannot-forward", text: "packet%s not forwardable"},
	{counter: "notmember", json: "received-unknown-multicast-group", text: "packet%s received for unknown multicast group"},
	{json: "redirects-sent", text: "redirect%s sent"},
	{counter: "localout", json: "sent-packets", text: "packet%s sent from this host"},
	{json: "send-packets-fabricated-header", text: "packet%s sent with fabricated ip header"},
	{counter: "odropped", json: "discard-no-mbufs", text: "output packet%s dropped due to no bufs, etc."},
	{counter: "noroute", json: "discard-no-route", text: "output packet%s discarded due to no route"},
	{counter: "fragmented", json: "sent-fragments", text: "output datagram%s fragmented"},
	{counter: "ofragments", json: "fragments-created", text: "fragment%s created"},
	{counter: "cantfrag", json: "discard-cannot-fragment", text: "datagram%s that can't be fragmented"},
	{json: "discard-tunnel-no-gif", text: "tunneling packet%s that can't find gif"},
	{counter: "badaddr", json: "discard-bad-address", text: "datagram%s with bad address in header"},
}

// icmpLines are those of icmp_stats; messages are not counted by their kind here.
var icmpLines = []statLine{
	{counter: "error", json: "icmp-calls", text: "call%s to icmp_error"},
	{counter: "oldicmp", json: "errors-not-from-message", text: "error%s not generated in response to an icmp message"},
	{json: "dropped-bad-code", text: "message%s with bad code fields"},
	{counter: "tooshort", json: "dropped-too-short", text: "message%s less than the minimum length"},
	{counter: "checksum", json: "dropped-bad-checksum", text: "message%s with bad checksum"},
	{json: "dropped-bad-length", text: "message%s with bad length"},
	{counter: "bmcastecho", json: "dropped-multicast-echo", text: "multicast echo requests ignored"},
	{json: "dropped-multicast-timestamp", text: "multicast timestamp requests ignored"},
	{counter: "reflect", json: "sent-packets", text: "message response%s generated"},
	{counter: "badaddr", json: "discard-invalid-return-address", text: "invalid return address%es"},
	{json: "discard-no-route", text: "no return route%s"},
}

// arpLines are those of arp_stats.
var arpLines = []statLine{
	{counter: "txrequests", json: "sent-requests", text: "ARP request%s sent"},
	{counter: "txerrors", json: "sent-failures", text: "ARP request%s failed to sent"},
	{counter: "txreplies", json: "sent-replies", text: "ARP repl%ies sent"},
	{counter: "rxrequests", json: "received-requests", text: "ARP request%s received"},
	{counter: "rxreplies", json: "received-replies", text: "ARP repl%ies received"},
	{counter: "received", json: "received-packers", text: "ARP packet%s received"}, // FreeBSD's name
	{counter: "dropped", json: "dropped-no-entry", text: "total packet%s dropped due to no ARP entry"},
	{counter: "timeouts", json: "entries-timeout", text: "ARP entry%s timed out"},
	{counter: "dupips", json: "dropped-duplicate-address", text: "Duplicate IP%s seen"},
}

// ip6Lines are those of ip6_stats, without its histograms.
var ip6Lines = []statLine{
	{counter: "total", json: "received-packets", text: "total packet%s received"},
	{counter: "toosmall", json: "dropped-below-minimum-size", text: "with size smaller than minimum"},
	{counter: "tooshort", json: "dropped-short-packets", text: "with data size < data length"},
	{counter: "badoptions", json: "dropped-bad-options", text: "with bad options"},
	{counter: "badvers", json: "dropped-bad-version", text: "with incorrect version number"},
	{counter: "fragdropped", json: "dropped-fragment", text: "fragment%s dropped (dup or out of space)"},
	{json: "timeout-fragment", text: "fragment%s dropped after timeout"},
	{json: "overflow-fragment", text: "fragment%s that exceeded limit"},
	{json: "reassembled-packets", text: "packet%s reassembled ok"},
	{counter: "delivered", json: "received-local-packets", text: "packet%s for this host"},
	{counter: "forward", json: "forwarded-packets", text: "packet%s forwarded"},
	{counter: "cantforward", json: "packets-not-forwardable", text: "packet%s not forwardable"},
	{json: "sent-redirects", text: "redirect%s sent"},
	{counter: "localout", json: "sent-packets", text: "packet%s sent from this host"},
	{json: "send-packets-fabricated-header", text: "packet%s sent with fabricated ip header"},
	{counter: "odropped", json: "discard-no-mbufs", text: "output packet%s dropped due to no bufs, etc."},
	{counter: "noroute", json: "discard-no-route", text: "output packet%s discarded due to no route"},
	{json: "sent-fragments", text: "output datagram%s fragmented"},
	{json: "fragments-created", text: "fragment%s created"},
	{json: "discard-cannot-fragment", text: "datagram%s that can't be fragmented"},
	{counter: "badscope", json: "discard-scope-violations", text: "packet%s that violated scope rules"},
	{counter: "notmember", json: "multicast-no-join-packets", text: "multicast packet%s which we don't join"},
}

// icmp6Lines are those of icmp6_stats that something is counted for here.
var icmp6Lines = []statLine{
	{counter: "error", json: "icmp6-calls", text: "call%s to icmp6_error"},
	{counter: "canterror", json: "errors-not-generated-from-message", text: "error%s not generated in response to an icmp6 message"},
	{counter: "toofreq", json: "errors-discarded-by-rate-limitation", text: "error%s not generated because of rate limitation"},
	{json: "dropped-bad-code", text: "message%s with bad code fields"},
	{counter: "tooshort", json: "dropped-too-short", text: "message%s < minimum length"},
	{counter: "checksum", json: "dropped-bad-checksum", text: "bad checksum%s"},
	{json: "dropped-bad-length", text: "message%s with bad length"},
	{counter: "reflect", json: "reflected-messages", text: "message response%s generated"},
	{counter: "badns", json: "bad-neighbor-solicitation", text: "bad neighbor solicitation message%s"},
	{counter: "badna", json: "bad-neighbor-advertisement", text: "bad neighbor advertisement message%s"},
}
