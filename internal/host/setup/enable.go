package setup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/team/doctor"
)

// Services keep the agents of a host's project: units of its systemd, or LaunchAgents of a Mac.
type Services struct {
	Host  host.Host
	Root  string   // of the project there
	Units []string // names of files
	mac   bool
}

// Where a user's services are, from the home folder.
const (
	unitFolder  = ".config/systemd/user"
	agentFolder = "Library/LaunchAgents"
)

// darwin is the system of a Mac, as Go names it.
const darwin = "darwin"

// manager returns the argument of export for the manager of the services, and their folder.
func (s Services) manager() (name, folder string) {
	if s.mac {
		return "launchd", agentFolder
	}
	return "systemd", unitFolder
}

// ServicesOf asks a host which units its project would have. Errors: those of an unreachable host, and of export there.
func ServicesOf(ctx context.Context, h host.Host) (Services, error) {
	facts, err := Ask(ctx, h)
	if err != nil {
		return Services{}, err
	}
	if facts.Root == "" {
		what := "the project cannot be opened"
		if len(facts.Findings) > 0 {
			what = human.OneLine(human.Legible(facts.Findings[0].What))
		}
		return Services{}, fail.Errorf(fail.NotFound, "on %s: %s", h.Name, what).Hint("nbs-worker host check %s", h.Name)
	}
	s := Services{Host: h, Root: facts.Root, mac: facts.System == darwin}
	for _, f := range facts.Findings {
		if f.Check == bootCheck && f.Level == doctor.Note && !s.mac { // it could not be checked
			return Services{}, s.withoutSystemd("systemd does not run " + h.Name)
		}
	}
	manager, _ := s.manager()
	answer, err := s.worker(ctx, "export", manager, "--json")
	if err != nil {
		return Services{}, err
	}
	var units []struct{ Name string }
	lines := bytes.Split(bytes.TrimSpace(answer.Out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &units); err != nil {
		return Services{}, fmt.Errorf("read the units of %s: %w", h.Name, err)
	}
	for _, unit := range units {
		if !strings.HasPrefix(unit.Name, "nbs-") { // an option of systemctl
			return Services{}, fmt.Errorf("%s names the unit %s", h.Name, human.Quote(unit.Name))
		}
		s.Units = append(s.Units, unit.Name)
	}
	return s, nil
}

// step is a command at a host.
type step struct {
	does  string
	words []string
	typed string // as it would be typed there; "": the words
	hint  string // if it fails
}

// steps returns what Enable does besides writing the units. To linger comes first: it starts the user's systemd.
func (s Services) steps() []step {
	if s.mac {
		return s.macSteps()
	}
	look := "ssh -t " + s.Host.Destination + " systemctl --user status"
	return []step{
		{"keep the services of the user without a login", []string{"loginctl", "enable-linger"}, "", `as root there: ssh -t ` + s.Host.Destination + ` 'sudo loginctl enable-linger "$USER"'`},
		{"have systemd read the units", []string{"systemctl", "--user", "daemon-reload"}, "", look},
		{"start them, now and at each boot", append([]string{"systemctl", "--user", "enable", "--now"}, s.Units...), "", look},
	}
}

// loadAgent loads a LaunchAgent, unless it is loaded: launchd refuses that.
const loadAgent = `launchctl print "gui/$(id -u)/$1" >/dev/null 2>&1 || launchctl bootstrap "gui/$(id -u)" "$HOME/` + agentFolder + `/$1` + export.Plist + `"`

// macSteps loads the LaunchAgents, the tmux server first.
func (s Services) macSteps() []step {
	return agent.Mapped(s.Units, func(unit string) step {
		label := strings.TrimSuffix(unit, export.Plist)
		return step{
			"load " + label, []string{"sh", "-c", loadAgent, "sh", label}, `launchctl bootstrap "gui/$(id -u)" ~/` + agentFolder + "/" + unit,
			"log in at the screen of " + s.Host.Name + ", then: nbs-worker host enable " + s.Host.Name,
		}
	})
}

// Commands returns the commands of Enable, in their order, as they would be typed at the host.
func (s Services) Commands() (lines []string) {
	manager, folder := s.manager()
	lines = append(lines, "nbs-worker --root "+human.ShellWord(s.Root)+" export "+manager+" --dir ~/"+folder)
	for _, step := range s.steps() {
		lines = append(lines, cmp.Or(step.typed, strings.Join(step.words, " ")))
	}
	return lines
}

// Enable writes the services of a host's project, and has its systemd run them from boot, or launchd from each login at
// the screen. Errors: those of an unreachable host; Unfit when systemd does not run it; Failed.
func (s Services) Enable(ctx context.Context) error {
	manager, folder := s.manager()
	if _, err := s.worker(ctx, "export", manager, "--dir", folder); err != nil {
		return err
	}
	for _, step := range s.steps() {
		answer, err := link.OncePlain(ctx, s.Host, nil, step.words...)
		switch {
		case err != nil:
			return fail.Errorf(fail.KindOf(err), "%s: %w", step.does, err)
		case !s.mac && (answer.Code == 126 || answer.Code == 127):
			return s.withoutSystemd(fmt.Sprintf("systemd does not run %s: there is no %s", s.Host.Name, step.words[0]))
		case answer.Code != 0:
			return fail.Errorf(fail.Failed, "%s on %s: %s", step.does, s.Host.Name, lastLine(answer.Said)).Hint("%s", step.hint)
		}
	}
	facts, err := Ask(ctx, s.Host)
	if err != nil {
		return err
	}
	for _, f := range facts.Findings {
		if f.Check == bootCheck && f.Level != doctor.Holds {
			return fail.Errorf(fail.Failed, "all was done on %s, and yet: %s", s.Host.Name, human.OneLine(human.Legible(f.What))).
				Hint("nbs-worker host check %s", s.Host.Name)
		}
	}
	return nil
}

// withoutSystemd is the error for a host that systemd does not run.
func (s Services) withoutSystemd(why string) error {
	return fail.Errorf(fail.Unfit, "%s", why).
		Hint("have its own init run this at boot: nbs-worker --root %s recover --all", human.ShellWord(s.Root))
}

// worker runs nbs-worker for the project of the host.
func (s Services) worker(ctx context.Context, words ...string) (link.Answer, error) {
	answer, err := link.Once(ctx, s.Host, append([]string{"--root", s.Root}, words...)...)
	if err == nil && answer.Code != 0 {
		err = relayed(s.Host, answer)
	}
	return answer, err
}

// relayed returns the error that nbs-worker reported at a host.
func relayed(h host.Host, answer link.Answer) error {
	said := link.ReadComplaint(answer.Code, answer.Said)
	err := fail.Errorf(said.Kind, "on %s: %s", h.Name, human.Legible(said.What))
	for _, hint := range said.Hints {
		_ = err.Hint("on %s: %s", h.Name, human.Legible(hint))
	}
	return err
}

// Outcome says what Enable has achieved.
func (s Services) Outcome() string {
	if s.mac {
		return "its agents come back at each login at its screen"
	}
	return "its agents come back after a reboot, and outlive each login"
}
