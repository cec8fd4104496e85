// Package host is a user's other machines: which there are, and how one is reached. A host runs its own agents under its
// own rules. This program asks the same program there, over ssh.
package host

import (
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Host is a machine that the user has added, and the project there.
type Host struct {
	Name        string     // as in alice@build1
	Destination string     // as ssh takes it: build1.example.org, user@host, or a name of ssh's own configuration
	Folder      string     // of the project there; a relative one is below the home folder
	Program     string     // nbs-worker there, if it is not in the PATH of a command by ssh
	Limits      agent.Room // for what the user's commands of this machine start there
}

// AsVariable is the variable of a program on the terminal of the user's other machine: the name of this one there, and after
// a space the folder that it was given as --root.
const AsVariable = "NBS_AS_HOST"

// Place is where the host's project is, in one word.
func (h Host) Place() string { return h.Destination + ":" + h.Folder }

const (
	small  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

// Here is the word for this machine, where a host is named.
const Here = "here"

// CheckName checks the name of a host. Errors: BadInput.
func CheckName(name string) error {
	if name == Here {
		return fail.Errorf(fail.BadInput, "here is the word for this machine, and no name for a host")
	}
	if name != "" && len(name) <= 32 && strings.Trim(name, small+digits+"-") == "" && name[0] != '-' {
		return nil
	}
	return fail.Errorf(fail.BadInput, "%s is not a name for a host", human.Quote(name)).
		Hint("a name has 1 to 32 lower-case letters, digits or dashes: build1")
}

// Split splits alice@build1 into what is before the last @, and the host. The host is "" if the word names none; a word
// that begins with its only @ is a group of the team file.
func Split(word string) (rest, host string) {
	at := strings.LastIndexByte(word, '@')
	if at <= 0 {
		return word, ""
	}
	return word[:at], word[at+1:]
}

// CheckDestination checks a destination. ssh would take one that begins with a dash for an option. Errors: BadInput.
func CheckDestination(destination string) error {
	const limit = 255
	if at, folder, _ := strings.Cut(destination, ":"); strings.Count(destination, ":") == 1 && !strings.HasPrefix(folder, "//") { // not IPv6
		return fail.Errorf(fail.BadInput, "%s is not a destination for ssh: it has a folder or a port", human.Quote(destination)).
			Hint("a folder is an option: %s --folder %s", at, human.ShellWord(folder)).Hint("a port is set in ~/.ssh/config, or by ssh://%s:PORT", at)
	}
	of := small + strings.ToUpper(small) + digits + "_.@:%/[]-"
	if destination != "" && len(destination) < limit && strings.Trim(destination, of) == "" && destination[0] != '-' {
		return nil
	}
	return fail.Errorf(fail.BadInput, "%s is not a destination for ssh", human.Quote(destination)).
		Hint("name a host, user@host, or a name of your ~/.ssh/config")
}
