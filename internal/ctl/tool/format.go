package tool

import "strings"

// Format is how a tool prints: text, or JSON in the shape that libxo(3) gives it.
type Format struct {
	JSON   bool
	Pretty bool // one value a line, indented
}

// TakeFormat takes what chooses a format off a tool's arguments, wherever it stands in front
// of a "--", and returns the rest: --libxo OPTIONS, --libxo=OPTIONS and --libxo:LETTERS as
// libxo reads them (xo_parse_args(3)), and -o json, with options behind a comma likewise
// (-o json,pretty). An -o with another argument is left to the tool.
func TakeFormat(args []string) (f Format, rest []string, err error) {
	const long = "--libxo"
	rest = make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		following := ""
		if i+1 < len(args) {
			following = args[i+1]
		}
		options, isLibxo := strings.CutPrefix(word, long)
		switch {
		case word == "-o" && isJSON(following):
			options = following
			i++
		case strings.HasPrefix(word, "-o") && isJSON(word[len("-o"):]):
			options = word[len("-o"):]
		case !isLibxo:
			rest = append(rest, word)
			continue
		case options == "" && i+1 == len(args):
			return f, nil, Messagef("missing libxo option")
		case options == "":
			options = following
			i++
		case options[0] == '=':
			options = options[1:]
		case options[0] != ':':
			return f, nil, Messagef("unknown libxo option: '%s'", word)
		}
		if err := f.set(options); err != nil {
			return f, nil, err
		}
	}
	return f, rest, nil
}

// isJSON reports whether the argument of -o means the format.
func isJSON(value string) bool {
	word, _, _ := strings.Cut(value, ",")
	return word == "json"
}

// ignoredOptions are libxo's options that change nothing about JSON, or add what a tool
// here does not have.
var ignoredOptions = map[string]bool{"": true, "flush": true, "flush-line": true, "keys": true, "no-color": true,
	"no-humanize": true, "no-locale": true, "no-retain": true, "units": true, "warn": true}

// set takes options: words between commas, or behind a colon a letter each, then words.
func (f *Format) set(options string) error {
	if letters, ok := strings.CutPrefix(options, ":"); ok {
		letters, options, _ = strings.Cut(letters, ",")
		for i := range len(letters) {
			if err := f.letter(letters[i:]); err != nil {
				return err
			}
		}
	}
	for _, word := range strings.Split(options, ",") {
		switch {
		case word == "json":
			f.JSON = true
		case word == "pretty":
			f.Pretty = true
		case word == "text":
			f.JSON = false
		case word == "xml" || word == "html":
			return Messagef("--libxo %s: not available", word)
		case !ignoredOptions[word]:
			return Messagef("unknown libxo option value: '%s'", word)
		}
	}
	return nil
}

// letter takes the first of some letters.
func (f *Format) letter(letters string) error {
	switch letters[0] {
	case 'J':
		f.JSON = true
	case 'P':
		f.Pretty = true
	case 'T':
		f.JSON = false
	case 'X', 'H':
		return Messagef("--libxo:%c: not available", letters[0])
	case 'c', 'f', 'F', 'k', 'n', 'U', 'W':
	default:
		return Messagef("unknown option: '%s'", letters)
	}
	return nil
}
