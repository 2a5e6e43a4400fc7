package sysctl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// Loader is the boot loader's configuration reader (config.lua, spec ifnet 5.2). It sets variables in
// an environment as files are read and collects what the loader would print. Not safe for concurrent use.
type Loader struct {
	env      *Kenv
	messages []string
	commands []string
	modules  []*Module
	settings []Setting
	more     string // loader_conf_files, which never reaches the environment
}

// Setting is an assignment that took effect.
type Setting struct {
	Name string // as written: a variable, or MODULE_load and its relatives
	File string // name that messages have for it
	Line int    // of the file, from 1
}

// Module is what MODULE_* lines say of one module.
type Module struct {
	Name   string            // the MODULE of the lines
	Fields map[string]string // load, name, type, flags, before, after, error, as far as given
}

// Wanted reports MODULE_load="YES", in any case.
func (m *Module) Wanted() bool { return strings.EqualFold(m.Fields["load"], "yes") }

// NewLoader returns a reader that sets variables in env.
func NewLoader(env *Kenv) *Loader { return &Loader{env: env} }

// Messages are the lines the loader printed and the kernel's warnings about values
// it could not take, without newlines at their ends.
func (l *Loader) Messages() []string { return slices.Clone(l.messages) }

// Commands are the exec="..." commands seen; none is run.
func (l *Loader) Commands() []string { return slices.Clone(l.commands) }

// Modules are the modules that lines name, in order of appearance.
func (l *Loader) Modules() []*Module { return slices.Clone(l.modules) }

// Settings are the assignments of all files in the order in which they were read: of those
// of one name the last counts.
func (l *Loader) Settings() []Setting { return slices.Clone(l.settings) }

// LoadModules returns the names of the wanted modules that module_blacklist does not
// name, and says so for those that it does.
func (l *Loader) LoadModules() (wanted []string) {
	blacklist, _ := l.env.Get("module_blacklist")
	banned := strings.FieldsFunc(blacklist, func(r rune) bool { return strings.ContainsRune(";, ", r) })
	for _, m := range l.modules {
		name := m.Name
		if other, ok := m.Fields["name"]; ok {
			name = other
		}
		switch {
		case !m.Wanted():
		case slices.Contains(banned, name):
			l.printf("Not loading blacklisted module '%s'", name)
		default:
			wanted = append(wanted, name)
		}
	}
	return wanted
}

func (l *Loader) printf(format string, a ...any) {
	l.messages = append(l.messages, fmt.Sprintf(format, a...))
}

// ParseLoaderConf reads one loader.conf or device.hints into env; name is used in
// messages. warnings hold the loader's texts, malformed lines with their
// line break; reading goes on after each. The error is the reader's, or EFBIG.
func ParseLoaderConf(name string, r io.Reader, env *Kenv) (warnings []string, err error) {
	l := NewLoader(env)
	err = l.Parse(name, r)
	return l.messages, err
}

// maxConfFile bounds a configuration file in bytes.
const maxConfFile = 4 << 20

// Parse reads one file. The error is the reader's, or EFBIG; what is wrong in the
// file is a message.
func (l *Loader) Parse(name string, r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, maxConfFile+1))
	if err == nil && len(text) > maxConfFile {
		err = syscall.EFBIG
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	l.parse(name, string(text))
	return nil
}

// parse handles the lines of a file.
func (l *Loader) parse(name, text string) {
	number, at, good := 0, 0, true
	for line := range strings.SplitSeq(text, "\n") {
		at++
		if line == "" {
			continue // messages do not count it
		}
		if number++; trimSpace(line) != "" && !l.line(line, Setting{File: name, Line: at}) {
			l.printf("Malformed line (%d):\n\t'%s'", number, line)
			good = false
		}
	}
	if !good {
		l.printf("Failed to parse config: '%s'", name)
	}
}

// Files read when there is no boot/defaults/loader.conf: what FreeBSD's says.
const (
	defaultsFile = "/boot/defaults/loader.conf"
	defaultsText = "loader_conf_files=\"/boot/device.hints /boot/loader.conf\"\n" +
		"local_loader_conf_files=\"/boot/loader.conf.local\"\n" +
		"loader_conf_dirs=\"/boot/loader.conf.d\"\n"
)

// Load reads the configuration of a machine whose root directory is fsys: boot/defaults/loader.conf (or
// FreeBSD's defaults when it is absent), the files loader_conf_files names, recursively and each once, *.conf of loader_conf_dirs, then
// local_loader_conf_files. Missing files are passed over, what cannot be read is a message.
func (l *Loader) Load(fsys fs.FS) {
	seen := map[string]bool{}
	if _, err := fs.Stat(fsys, fsPath(defaultsFile)); err == nil {
		l.readConf(fsys, defaultsFile, seen)
	} else {
		l.parse(defaultsFile, defaultsText)
		l.readNamed(fsys, strings.Fields(l.more), seen)
	}
	for _, dir := range l.fields("loader_conf_dirs") {
		l.readDir(fsys, dir, seen)
	}
	l.readNamed(fsys, l.fields("local_loader_conf_files"), seen)
}

// readDir reads the *.conf files of a directory, in order of their names.
func (l *Loader) readDir(fsys fs.FS, dir string, seen map[string]bool) {
	files, err := fs.ReadDir(fsys, fsPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.printf("Failed to load conf dir '%s': not a directory", dir)
	}
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".conf") && !file.IsDir() {
			l.readConf(fsys, path.Join(dir, file.Name()), seen)
		}
	}
}

// fields splits a variable at blanks.
func (l *Loader) fields(name string) []string {
	value, _ := l.env.Get(name)
	return strings.Fields(value)
}

// fsPath turns an absolute path into one for an fs.FS.
func fsPath(name string) string {
	if p := strings.TrimPrefix(path.Clean("/"+name), "/"); p != "" {
		return p
	}
	return "."
}

// readNamed reads each file of a list.
func (l *Loader) readNamed(fsys fs.FS, list []string, seen map[string]bool) {
	for _, file := range list {
		l.readConf(fsys, file, seen)
	}
}

// readConf reads a file and those its loader_conf_files names, each file once.
func (l *Loader) readConf(fsys fs.FS, name string, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	l.printf("Loading %s", name)
	l.more = ""
	f, err := fsys.Open(fsPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.printf("Failed to open config: '%s'", name)
		return
	}
	err = l.Parse(name, f)
	if cerr := f.Close(); err != nil || cerr != nil {
		l.printf("Failed to read config: '%s'", name)
	}
	l.readNamed(fsys, strings.Fields(l.more), seen)
}

// Parts of the line forms, in Go's regexp syntax.
const (
	reBlank  = `[ \t\v\f\r]*`
	reModule = `([-A-Za-z0-9_]+)`
	reName   = `([A-Za-z0-9][-A-Za-z0-9_.]*)`
	reQuoted = `"(.*)"`
	reWord   = `([-A-Za-z0-9][-A-Za-z0-9_.]*)`
)

// lineForm is one form of a line. The first form that matches decides, quoted value before bare word.
type lineForm struct {
	match  []*regexp.Regexp
	module string // the field of the module it sets
}

// form compiles the alternatives of one form for each kind of value.
func form(module, key string, values ...string) lineForm {
	f := lineForm{module: module}
	for _, value := range values {
		f.match = append(f.match, regexp.MustCompile("^"+reBlank+key+reBlank+"="+reBlank+value+reBlank+"(.*)$"))
	}
	return f
}

var (
	moduleForms = []lineForm{
		form("load", reModule+"_load", reQuoted, reWord),
		form("name", reModule+"_name", reQuoted, reWord),
		form("type", reModule+"_type", reQuoted, reWord),
		form("flags", reModule+"_flags", reQuoted, reWord),
		form("before", reModule+"_before", reQuoted, reWord),
		form("after", reModule+"_after", reQuoted, reWord),
		form("error", reModule+"_error", reQuoted, reWord),
	}
	execForm = form("", "(exec)", reQuoted)
	envForm  = form("", reName, reQuoted, reWord)
)

// apply matches a line: the key, the value and whether only a comment follows.
func (f lineForm) apply(line string) (key, value string, clean, ok bool) {
	for _, re := range f.match {
		if m := re.FindStringSubmatch(line); m != nil {
			rest := trimSpace(m[3])
			return m[1], m[2], rest == "" || rest[0] == '#', true
		}
	}
	return "", "", false, false
}

// line handles one line that is not blank and stands at a place; false when it is malformed.
func (l *Loader) line(line string, at Setting) bool {
	if trimSpace(line)[0] == '#' {
		return true
	}
	for _, f := range moduleForms {
		if key, value, clean, ok := f.apply(line); ok {
			if clean {
				l.module(key).Fields[f.module] = value
				at.Name = key + "_" + f.module
				l.settings = append(l.settings, at)
			}
			return clean
		}
	}
	if _, command, clean, ok := execForm.apply(line); ok {
		if clean {
			l.commands = append(l.commands, command)
		}
		return clean
	}
	key, value, clean, ok := envForm.apply(line)
	if ok && clean {
		at.Name = key
		l.setVariable(at, value)
	}
	return ok && clean
}

// module finds or makes the entry of a module.
func (l *Loader) module(name string) *Module {
	for _, m := range l.modules {
		if m.Name == name {
			return m
		}
	}
	m := &Module{Name: name, Fields: map[string]string{}}
	l.modules = append(l.modules, m)
	return m
}

// setVariable expands a value and stores it.
func (l *Loader) setVariable(at Setting, value string) {
	name := at.Name
	text, fault := l.expand(value)
	switch {
	case fault != "":
		l.printf("Failed to parse variable '%s': %s", name, fault)
	case name == "loader_conf_files":
		l.more = text
	default:
		if w := l.env.load(name, text); w != "" {
			l.messages = append(l.messages, w)
			return
		}
		l.settings = append(l.settings, at)
	}
}

var (
	bracedVariable = regexp.MustCompile(`^\{([^}]+)\}`)
	bareVariable   = regexp.MustCompile(`^([A-Za-z0-9][-A-Za-z0-9_.]*)`)
)

// expand resolves escapes and variables of a value; fault is the loader's text when it cannot.
func (l *Loader) expand(value string) (text, fault string) {
	var out strings.Builder
	for i := 0; i < len(value); i++ {
		last := i == len(value)-1
		switch c := value[i]; {
		case c == '"':
			return "", fmt.Sprintf("Stray quote at position '%d'", i+1)
		case c == '\\' && last:
			return "", "Stray escape at end of line"
		case c == '\\':
			i++
			out.WriteByte(value[i])
		case c == '$' && last:
			return "", "Unescaped $ at end of line"
		case c == '$':
			re := bareVariable
			if value[i+1] == '{' {
				re = bracedVariable
			}
			m := re.FindStringSubmatch(value[i+1:])
			if m == nil {
				return "", fmt.Sprintf("Malformed variable expression at position '%d'", i+1)
			}
			v, _ := l.env.Get(m[1])
			out.WriteString(v)
			i += len(m[0])
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), ""
}
