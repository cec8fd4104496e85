package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/doctor"
)

// Here is the program that checks a host.
type Here struct {
	Version  string
	Now      func() time.Time
	Patience time.Duration // with nbs-worker there; 0: the usual one
}

// Check checks a host: whether ssh reaches it, its program, its clock, and what doctor checks there. An unreachable host
// is a finding. Errors: that of the context.
func Check(ctx context.Context, h host.Host, here Here) (doctor.Checkup, error) {
	const usual, forPlainSSH = 45 * time.Second, 15 * time.Second
	asked := here.Now()
	limited, leave := context.WithTimeout(ctx, cmp.Or(here.Patience, usual))
	defer leave()
	facts, err := Ask(limited, h)
	answered := here.Now()
	if ctx.Err() != nil {
		return doctor.Checkup{}, ctx.Err()
	}
	if err != nil && limited.Err() != nil {
		plain, leave := context.WithTimeout(ctx, forPlainSSH)
		defer leave()
		if _, unreached := link.OncePlain(plain, h, nil, "true"); unreached == nil {
			return doctor.Checkup{Findings: []doctor.Finding{reached(h), silent(h)}}, nil
		}
	}
	if err != nil {
		return doctor.Checkup{Findings: notAnswered(h, err)}, nil
	}
	all := []doctor.Finding{reached(h), here.program(h, facts), clock(h, facts.System, facts.Time, asked, answered)}
	for _, f := range facts.Findings {
		f.Fix = mends(h, f)
		all = append(all, f)
	}
	return doctor.Checkup{Findings: all}, nil
}

// mends returns the commands that mend what a host found of itself, as they are typed here or there.
func mends(h host.Host, f doctor.Finding) []string {
	switch {
	case (f.Check == bootCheck || f.Check == "mac.server") && f.Level == doctor.Warning:
		return []string{"nbs-worker host enable " + h.Name}
	case f.Check == "folder.project" && f.Level == doctor.Note: // there is none yet
		return []string{fmt.Sprintf("to start an agent there: nbs-worker --host %s spawn HANDLE", h.Name)}
	case f.Check == "claude.found" && f.Level == doctor.Failure: // a command by ssh does not have the variables of a login
		return []string{"on " + h.Name + `, in a login that finds claude: ln -s "$(command -v claude)" ~/.local/bin/claude`, "or install Claude Code there"}
	}
	return agent.Mapped(f.Fix, func(fix string) string { return typedHere(h, fix) })
}

// fixers are programs that mend a host when they run there once. What is to be exported, or to be done in a terminal of
// one's own, is not.
var fixers = []string{"brew", "chmod", "claude", "df", "ls", "mkdir", "mv", "rm", "sudo", "tmux"}

// typedHere returns what mends a host as it is typed here. A command follows the last colon, or has no words before it.
func typedHere(h host.Host, fix string) string {
	words, command := "", fix
	if at := strings.LastIndex(fix, ": "); at >= 0 {
		words, command = fix[:at+2], fix[at+2:]
	}
	program, rest, _ := strings.Cut(command, " ")
	switch {
	case program == "nbs-worker":
		return words + "nbs-worker --host " + h.Name + " " + rest
	case slices.Contains(fixers, program):
		return words + "ssh -t " + h.Destination + " " + human.ShellWord(command)
	}
	return "on " + h.Name + ": " + fix
}

func reached(h host.Host) doctor.Finding {
	return doctor.Finding{Check: sshCheck, Level: doctor.Holds, What: "ssh reaches " + h.Destination}
}

// silent is the finding for a host whose nbs-worker does not end.
func silent(h host.Host) doctor.Finding {
	return doctor.Finding{
		Check: programCheck, Level: doctor.Failure, What: "nbs-worker there did not answer in time",
		Why: "that machine is very busy, or nbs-worker or a program that it asks, such as claude, hangs",
		Fix: []string{"to see what hangs: ssh -t " + h.Destination + " nbs-worker doctor"},
	}
}

// notAnswered returns the findings for a host that did not say how it is.
func notAnswered(h host.Host, err error) []doctor.Finding {
	f := doctor.Finding{
		Check: programCheck, Level: doctor.Failure, Unfit: fail.KindOf(err) == fail.Unfit, Fix: fail.HintsOf(err),
		What: err.Error(), Why: "nothing else there can be checked",
	}
	far, is := errors.AsType[*link.Unreachable](err)
	switch {
	case !is:
		return []doctor.Finding{reached(h), f}
	case far.Reason == link.NoProgram:
		f.What = "nbs-worker is not there: " + far.Said
		return []doctor.Finding{reached(h), f}
	case far.Reason.Passes():
		f.Fix = []string{"to see how far ssh gets: ssh -v " + h.Destination + " true"}
	}
	f.Check = sshCheck
	return []doctor.Finding{f}
}

// program compares the programs of both machines.
func (here Here) program(h host.Host, facts Facts) doctor.Finding {
	theirs, ours := short(facts.Version), short(here.Version)
	f := doctor.Finding{Check: programCheck, Level: doctor.Note, Fix: []string{installOf(h)}}
	switch {
	case facts.Protocol != link.Protocol:
		f.Level, f.Unfit = doctor.Failure, true
		f.What = fmt.Sprintf("it has nbs-worker %s, with which this one, %s, cannot speak", theirs, ours)
		f.Why = "no verb of this machine works there"
	case theirs != ours:
		f.What = fmt.Sprintf("it has nbs-worker %s, and this machine %s", theirs, ours)
	default:
		return doctor.Finding{Check: programCheck, Level: doctor.Holds, What: "it has nbs-worker " + theirs}
	}
	return f
}

// short returns a version without that of Go.
func short(version string) string {
	first, _, _ := strings.Cut(version, " ")
	return human.Legible(first)
}

// clock compares the clock of a host with the time between a question and its answer.
func clock(h host.Host, system string, theirs, asked, answered time.Time) doctor.Finding {
	const allowed = 2 * time.Second
	off, which := time.Duration(0), "ahead of"
	if theirs.After(answered.Add(allowed)) {
		off = theirs.Sub(answered)
	} else if theirs.Before(asked.Add(-allowed)) {
		off, which = asked.Sub(theirs), "behind"
	}
	if off == 0 {
		return doctor.Finding{Check: clockCheck, Level: doctor.Holds, What: "its clock is right"}
	}
	mend := "sudo timedatectl set-ntp true"
	if system == darwin {
		mend = "sudo systemsetup -setusingnetworktime on"
	}
	return doctor.Finding{
		Check: clockCheck, Level: doctor.Warning, What: fmt.Sprintf("its clock is %s %s that of this machine", off.Round(time.Second), which),
		Why: "times and ages of its agents look wrong from here", Fix: []string{typedHere(h, mend)},
	}
}

// installOf is the command that copies this program to a host.
func installOf(h host.Host) string {
	return fmt.Sprintf("nbs-worker host add %s %s --install", h.Name, h.Destination)
}

// lastLine returns the last line of what a program said.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return human.OneLine(human.Legible(lines[len(lines)-1]))
}
