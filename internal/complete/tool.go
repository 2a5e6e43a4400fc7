package complete

import (
	"slices"
	"strings"
)

// Ask runs a tool in the machine and returns the lines that it printed; none if it failed
// or there is no machine.
type Ask func(tool string, args ...string) []string

// Choice is what a word may become.
type Choice struct {
	Words []string // sorted; each begins with the word
	Open  bool     // a word may go on: no blank belongs behind it
	Files bool     // the name of a file, which Words does not have
}

// source finds what word may become; args are those before it that are no flags.
type source func(ask Ask, args []string, word string) Choice

// syntax is a tool's command line as far as it is completed.
type syntax struct {
	// values are the flags that take an argument; nil: one that is not completed.
	values map[byte]source
	// args completes arguments that are no flags; nil does not.
	args source
}

// Tool completes the last word of a tool's command line; args are the words between the
// tool's name and it. A tool that is not known has no choice.
func Tool(ask Ask, tool string, args []string, word string) Choice {
	s := syntaxes[tool]
	plain, value, isValue := s.split(args)
	choose := s.args
	if isValue {
		choose = value
	}
	if choose == nil || !isValue && strings.HasPrefix(word, "-") {
		return Choice{}
	}
	c := choose(ask, plain, word)
	c.Words = slices.DeleteFunc(c.Words, func(w string) bool { return !strings.HasPrefix(w, word) })
	slices.Sort(c.Words)
	c.Words = slices.Compact(c.Words)
	return c
}

// split takes flags and their values out of args. isValue: the next word is a flag's, which
// value completes.
func (s syntax) split(args []string) (plain []string, value source, isValue bool) {
	for _, arg := range args {
		switch {
		case isValue:
			isValue = false
		case len(arg) > 1 && arg[0] == '-':
			value, isValue = s.awaited(arg[1:])
		default:
			plain = append(plain, arg)
		}
	}
	return plain, value, isValue
}

// awaited looks for a flag among letters that has its value in the next word.
func (s syntax) awaited(letters string) (value source, isValue bool) {
	for i := range len(letters) {
		if value, ok := s.values[letters[i]]; ok {
			return value, i == len(letters)-1
		}
	}
	return nil, false
}
