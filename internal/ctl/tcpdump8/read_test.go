package tcpdump8_test

import (
	"bytes"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/ifsim/ifsim/internal/ctl/tcpdump8"
)

// disk has the files of a test.
type disk map[string]*bytes.Buffer

type file struct{ *bytes.Buffer }

func (file) Close() error { return nil }

func (d disk) run(line, stdin string) (stdout, stderr string, exit int) {
	var o, e bytes.Buffer
	exit = tcpdump8.RunFile(strings.Fields(line), tcpdump8.FileIO{Stdin: strings.NewReader(stdin), Stdout: &o, Stderr: &e,
		Open: func(name string) (io.ReadCloser, error) {
			if f, ok := d[name]; ok {
				return io.NopCloser(bytes.NewReader(f.Bytes())), nil
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		},
		Create: func(name string) (io.WriteCloser, error) {
			if name == "full" {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
			}
			d[name] = new(bytes.Buffer)
			return file{d[name]}, nil
		}})
	return o.String(), e.String(), exit
}

// pcap is a capture file as tcpdump writes it.
func pcap(t testing.TB, link layers.LinkType, frames ...[]byte) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriter(&b)
	if err := w.WriteFileHeader(96, link); err != nil {
		t.Fatal(err)
	}
	for i, f := range frames {
		ci := gopacket.CaptureInfo{Timestamp: time.Unix(int64(i), 0), CaptureLength: min(96, len(f)), Length: len(f)}
		if err := w.WritePacket(ci, f[:ci.CaptureLength]); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

func TestCaptureFilesAreShown(t *testing.T) {
	d := disk{"p": pcap(t, layers.LinkTypeEthernet, udp(t, 7, 9, 18), udp(t, 8, 9, 200), udp(t, 7, 8, 1))}
	const lines = "IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\nIP 10.0.0.2.8 > 10.0.0.1.9: UDP, length 200\nIP 10.0.0.2.7 > 10.0.0.1.8: UDP, length 1\n"
	const header = "reading from file p, link-type EN10MB (Ethernet), snapshot length 96\n"
	for line, want := range map[string]string{
		"-t -r p":                  lines,
		"-t -r p -c 1":             lines[:strings.Index(lines, "\n")+1],
		"-tt -r p src port 8":      "1.000000 IP 10.0.0.2.8 > 10.0.0.1.9: UDP, length 200\n",
		"-t -r p greater 200":      "IP 10.0.0.2.8 > 10.0.0.1.9: UDP, length 200\n",
		"-t -r p not udp":          "",
		"-t -r p -s 20 dst port 8": "IP  [|ip]\n",
	} {
		if stdout, stderr, exit := d.run(line, ""); stdout != want || stderr != header || exit != 0 {
			t.Errorf("%s: %q %q %d, want %q", line, stdout, stderr, exit, want)
		}
	}
	stdout, stderr, exit := d.run("-t -r -", d["p"].String())
	if stdout != lines || stderr != strings.Replace(header, "file p", "file -", 1) || exit != 0 {
		t.Errorf("standard input: %q %q %d", stdout, stderr, exit)
	}
}

func TestCaptureFilesAreCopiedToPcapng(t *testing.T) {
	d := disk{"p": pcap(t, layers.LinkTypeEthernet, udp(t, 7, 9, 18), udp(t, 8, 9, 200), udp(t, 7, 8, 1))}
	if stdout, _, exit := d.run("-r p -w ng src port 7", ""); stdout != "" || exit != 0 {
		t.Errorf("%q %d", stdout, exit)
	}
	stdout, stderr, exit := d.run("-tt -r ng", "")
	want := "0.000000 IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\n2.000000 IP 10.0.0.2.7 > 10.0.0.1.8: UDP, length 1\n"
	if stdout != want || stderr != "reading from file ng, link-type EN10MB (Ethernet), snapshot length 262144\n" || exit != 0 {
		t.Errorf("%q %q %d", stdout, stderr, exit)
	}
	copied, _, _ := d.run("-r p -w - src port 7", "")
	if copied != d["ng"].String() {
		t.Error("standard output has another copy than the file")
	}
}

func TestCaptureFilesThatCannotBeRead(t *testing.T) {
	whole := pcap(t, layers.LinkTypeEthernet, udp(t, 7, 9, 18)).String()
	d := disk{"empty": {}, "text": bytes.NewBufferString("some text"), "cut": bytes.NewBufferString(whole[:len(whole)-1]),
		"header": bytes.NewBufferString(whole[:10]), "null": pcap(t, layers.LinkTypeNull), "p": bytes.NewBufferString(whole)}
	d.run("-r p -w ng", "")
	huge, lies := bytes.Clone(d["ng"].Bytes()), bytes.Clone(d["ng"].Bytes())
	copy(huge[4:], "\xff\xff\xff\x7f")
	at := bytes.Index(lies, []byte("\x06\x00\x00\x00\x5c\x00\x00\x00")) // the packet's block
	copy(lies[at+20:], "\x40\x42\x0f\x00")
	d["huge"], d["lies"] = bytes.NewBuffer(huge), bytes.NewBuffer(lies)
	const header = "reading from file cut, link-type EN10MB (Ethernet), snapshot length 96\n"
	for line, want := range map[string]string{
		"-r none":      "tcpdump: none: file does not exist\n",
		"-r empty":     "tcpdump: truncated dump file; tried to read 4 file header bytes, only got 0\n",
		"-r text":      "tcpdump: unknown file format\n",
		"-r huge":      "tcpdump: bad dump file: a block of 2147483647 bytes\n",
		"-r lies":      strings.NewReplacer("file cut", "file lies", "96", "262144").Replace(header) + "tcpdump: pcap_loop: 1000000 bytes of a packet in a block of 92\n",
		"-r header":    "tcpdump: bad dump file: unexpected EOF\n",
		"-r cut":       header + "tcpdump: pcap_loop: truncated dump file\n",
		"-r null":      "tcpdump: packet printing is not supported for link type Null: use -w\n",
		"-r p (":       "tcpdump: can't parse filter expression: syntax error\n",
		"-r p -F none": "tcpdump: can't open none: file does not exist\n",
		"-r p -w full": strings.Replace(header, "cut", "p", 1) + "tcpdump: full: permission denied\n",
		"-r p -c 0":    "tcpdump: invalid packet count 0 (must be >= 1 and <= 2147483647)\n",
	} {
		if stdout, stderr, exit := d.run(line, ""); stdout != "" || stderr != want || exit != 1 {
			t.Errorf("%s: %q %q %d, want %q", line, stdout, stderr, exit, want)
		}
	}
	if stdout, _, exit := d.run("-d -r p arp", ""); !strings.HasPrefix(stdout, "(000) ldh      [12]\n") || exit != 0 {
		t.Errorf("-d: %q %d", stdout, exit)
	}
}

func FuzzCaptureFile(f *testing.F) {
	f.Add(pcap(f, layers.LinkTypeEthernet, udp(f, 7, 9, 18)).Bytes())
	d := disk{"p": pcap(f, layers.LinkTypeEthernet, udp(f, 7, 9, 18))}
	d.run("-r p -w ng", "")
	f.Add(d["ng"].Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, _, exit := (disk{}).run("-v -r -", string(data)); exit != 0 && exit != 1 {
			t.Fatalf("exit status %d", exit)
		}
	})
}
