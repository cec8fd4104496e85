package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"nbs-worker/internal/agent"
)

// What the libraries say of a command line, in our words.

// inOurWords says of an error of the command line what is wrong with it, without the names of
// the program's inner parts.
func inOurWords(err error) error {
	if _, atWork := errors.AsType[*verbError](err); atWork {
		return err
	}
	text := err.Error()
	exclusive := regexp.MustCompile(`^if any flags in the group \[[^\]]*\] are set none of the others can be; \[([^\]]*)\] were all set$`)
	if found := exclusive.FindStringSubmatch(text); found != nil {
		names := strings.Fields(found[1])
		for i := range names {
			names[i] = "--" + names[i]
		}
		return agent.Errorf(agent.BadInput, "%s exclude each other", strings.Join(names, " and "))
	}
	return err
}

// flagError says what is wrong with a flag of a verb.
func flagError(err error) string {
	text := err.Error()
	badValue := regexp.MustCompile(`invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?(--[\w-]+)" flag: (.*)$`)
	if found := badValue.FindStringSubmatch(text); found != nil {
		return found[2] + " " + found[1] + " is not " + valueOf(found[3])
	}
	for begin, say := range map[string]string{"unknown flag: ": "there is no flag %s", "unknown shorthand flag: ": "there is no flag %s", "flag needs an argument: ": "%s needs a value"} {
		if flag, is := strings.CutPrefix(text, begin); is {
			if letter, inGroup := strings.CutPrefix(flag, "'"); inGroup { // "'x' in -x"
				flag = "-" + letter[:1]
			}
			return fmt.Sprintf(say, flag)
		}
	}
	return text
}

// valueOf says what kind of value a flag takes, by the complaint about one that is none.
func valueOf(complaint string) string {
	switch {
	case strings.Contains(complaint, "duration"):
		return "a time such as 90s or 10m"
	case strings.Contains(complaint, "ParseBool"):
		return "true or false"
	case strings.Contains(complaint, "ParseInt"), strings.Contains(complaint, "Atoi"):
		return "a whole number"
	}
	return "a value that it takes: " + complaint
}
