package ui

import (
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/doctor"
	"nbs-worker/internal/team/supervisor"
)

var groupTitles = map[string]string{
	"claude": "Claude Code", "tmux": "tmux", "folder": "Project folder", "logout": "Logout", "team": "Agents",
	"left": "Journal", "environment": "Environment", "start": "First start", "conversations": "Conversations",
	"bot": "Bot", "service": "Service", "host": "Host", "mac": "macOS",
}

// OfCheckup returns the exit code of a checkup; nil if nothing is worse than a note.
func OfCheckup(checkup doctor.Checkup) error {
	switch {
	case checkup.Unfit():
		return ExitError(fail.Unfit)
	case checkup.Worst().Worse(doctor.Note) || len(checkup.Failed) > 0:
		return ExitError(fail.Failed)
	}
	return nil
}

// PrintCheckup prints the problems by group, and with all also what holds. It counts the checks. never is a line about
// what was not touched; "": no line.
func (f *Factory) PrintCheckup(checkup doctor.Checkup, all bool, never string) error {
	var b strings.Builder
	shown := ""
	for _, finding := range checkup.Findings {
		if finding.Level == doctor.Holds && !all {
			continue
		}
		group, _, _ := strings.Cut(finding.Check, ".")
		if group != shown {
			fmt.Fprintf(&b, "%s\n", groupTitles[group])
			shown = group
		}
		writeFinding(f, &b, finding)
	}
	for _, done := range checkup.Done {
		fmt.Fprintf(&b, "fixed: %s\n", human.Legible(done))
	}
	for _, err := range checkup.Failed {
		fmt.Fprintf(&b, "not fixed: %s\n", Indented(human.Legible(err.Error())))
	}
	if never != "" {
		fmt.Fprintln(&b, never)
	}
	fmt.Fprintln(&b, summary(checkup))
	_, err := fmt.Fprint(f.Streams.Out, b.String())
	return err
}

func writeFinding(f *Factory, b *strings.Builder, finding doctor.Finding) {
	const margin = 11 // columns
	words := func(text string) string {
		lines := strings.Split(Indented(human.Legible(text)), "\n")
		return strings.Join(agent.Mapped(lines, func(line string) string { return Hanging(line, margin, f.Streams.Width) }), "\n")
	}
	fmt.Fprintf(b, "  %s %s\n", f.Coloured(levelColours[finding.Level], fmt.Sprintf("%-8s", finding.Level)), words(finding.What))
	if finding.Why != "" {
		fmt.Fprintf(b, "           %s\n", words(finding.Why))
	}
	for _, fix := range finding.Fix { // a command is not wrapped: it is for pasting
		fmt.Fprintf(b, "           %s\n", Indented(human.Legible(f.Pasteable("fix: "+fix))))
	}
}

var levelColours = map[doctor.Level]string{doctor.Holds: Green, doctor.Note: Plain, doctor.Warning: Yellow, doctor.Failure: Red}

// summary counts the checks by their worst finding.
func summary(checkup doctor.Checkup) string {
	worst := map[string]doctor.Level{}
	for _, finding := range checkup.Findings {
		if now, seen := worst[finding.Check]; !seen || finding.Level.Worse(now) {
			worst[finding.Check] = finding.Level
		}
	}
	found := map[doctor.Level]int{}
	for _, level := range worst {
		found[level]++
	}
	parts := []string{fmt.Sprintf("%s: %d ok", human.Count(len(worst), "check"), found[doctor.Holds])}
	for _, level := range []doctor.Level{doctor.Note, doctor.Warning, doctor.Failure} {
		if n := found[level]; n > 0 {
			parts = append(parts, human.Count(n, string(level)))
		}
	}
	return strings.Join(parts, ", ")
}

// OpenToExamine opens the project for doctor. If it cannot be opened, that is a finding and no error.
func (f *Factory) OpenToExamine() (*supervisor.Supervisor, doctor.Options, error) {
	bands, err := ContextBands()
	if err != nil {
		return nil, doctor.Options{}, err
	}
	how := doctor.Options{Bands: bands, Version: f.Release()}
	s, err := f.Planner()
	if err == nil {
		return s, how, nil
	}
	root, notThere := f.Founding()
	if notThere != nil {
		return nil, how, notThere
	}
	how.ProjectErr = err
	s, absent := f.On(store.Absent(root), nil)
	return s, how, absent
}
