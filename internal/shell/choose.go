package shell

import "strings"

// Completions finds what the last word of a line may become: the line without it, and the
// words, each with a blank behind it unless it goes on behind a dot or a slash. Words with quotes have none.
func Completions(choose Choose, line string) (head string, words []string) {
	word := line[strings.LastIndexAny(line, enders)+1:]
	head = line[:len(line)-len(word)]
	if strings.ContainsAny(word, `'"\$`) {
		return line, nil
	}
	list, err := Parse(head + "x") // as if a word were there
	if err != nil || len(list) == 0 || list[len(list)-1].Host != "" {
		return line, nil
	}
	last := list[len(list)-1].Words
	argv := make([]string, len(last)-1)
	for i := range argv {
		argv[i] = last[i].Expand(0)
	}
	choices, open := choose(argv, word)
	for _, c := range choices {
		if goesOn := strings.HasSuffix(c, ".") || strings.HasSuffix(c, "/"); !open || !goesOn {
			c += " "
		}
		words = append(words, c)
	}
	return head, words
}
