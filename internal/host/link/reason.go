package link

import (
	"cmp"
	"fmt"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/human"
)

// Reason is why a host cannot be reached.
type Reason int

// The reasons.
const (
	Cut       Reason = iota // the connection ended, or ssh does not say why
	TimedOut                // it did not answer in time
	Away                    // there is no way to it
	Down                    // it refuses connections
	Unknown                 // its name is not known
	HostKey                 // its key is not known here, or has changed
	Refused                 // it does not let the user in
	NoProgram               // it has no nbs-worker, or one that cannot speak with this one
)

// Passes reports whether the reason may pass by itself.
func (r Reason) Passes() bool { return r <= Down }

// signs are what ssh, or the shell of a host, writes for a reason. ssh has no exit codes for them.
var signs = []struct {
	reason Reason
	words  string
}{
	{HostKey, "host key verification failed"},
	{HostKey, "remote host identification has changed"},
	{Refused, "permission denied"},
	{Refused, "too many authentication failures"},
	{Unknown, "could not resolve hostname"},
	{TimedOut, "timed out"},
	{TimedOut, "timeout, server"},
	{Down, "connection refused"},
	{Away, "no route to host"},
	{Away, "network is unreachable"},
	{Away, "network is down"},
	{NoProgram, "command not found"},
	{NoProgram, "no such file or directory"},
	{NoProgram, "not found"},
}

// ReasonOf reads from what ssh wrote to stderr why it could not connect.
func ReasonOf(said string) Reason {
	said = strings.ToLower(said)
	for _, sign := range signs {
		if strings.Contains(said, sign.words) {
			return sign.reason
		}
	}
	return Cut
}

// Unreachable is the error that a host cannot be reached.
type Unreachable struct { //nolint:errname // it is a state of a host, too
	Host   host.Host
	Reason Reason
	Said   string // the last line of ssh
}

// Words says why, in a few words.
func (e *Unreachable) Words() string {
	return map[Reason]string{
		Cut: "the connection ended", TimedOut: "it did not answer in time", Away: "it is off, or not in this network", Down: "it refuses connections",
		Unknown: "its name is not known", HostKey: "its key is not known here, or has changed", Refused: "it does not let you in",
		NoProgram: "it has no nbs-worker in the PATH of a command by ssh",
	}[e.Reason]
}

func (e *Unreachable) Error() string {
	text := fmt.Sprintf("%s is unreachable: %s", e.Host.Name, e.Words())
	if e.Said != "" {
		text += ": " + human.Legible(e.Said)
	}
	return text
}

// unreachable returns the error with its kind and what to do.
func unreachable(h host.Host, said string) error { return unreachableFor(ReasonOf(said), h, said) }

func unreachableFor(reason Reason, h host.Host, said string) error {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	e := &Unreachable{Host: h, Reason: reason, Said: lines[len(lines)-1]}
	if e.Reason.Passes() {
		return fail.Errorf(fail.TimedOut, "%w", e).Hint("to see what is wrong: nbs-worker host check %s", h.Name)
	}
	hint := map[Reason]string{
		Unknown:   "name it as ssh does: nbs-worker host add " + h.Name + " DESTINATION",
		HostKey:   "look at its key, and accept it if it is right: ssh " + h.Destination,
		Refused:   "log in without a password, by a key: ssh-copy-id " + h.Destination,
		NoProgram: "nbs-worker host add " + h.Name + " " + h.Destination + " --install",
	}[e.Reason]
	return fail.Errorf(fail.Unfit, "%w", e).Hint("%s", cmp.Or(hint, "nbs-worker host check "+h.Name))
}
