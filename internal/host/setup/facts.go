// Package setup checks hosts and makes them fit: the program there, and what keeps agents there without a login.
package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/platform/logind"
	"nbs-worker/internal/platform/macos"
	"nbs-worker/internal/team/doctor"
)

// Facts is what a host says of itself: what host facts prints there.
type Facts struct {
	Version  string // of the program
	Protocol int
	System   string // as Go names it; "": an early program, which did not say
	Root     string // absolute path of the project, or of the folder where it would be
	Findings []doctor.Finding
	Time     time.Time // when this was said
}

// Checked returns the checks of doctor that are about the host, and not about its agents.
func Checked() []string {
	return append(CheckedOfMachine(), "start.trust", "folder.project", "folder.disk")
}

// CheckedOfMachine returns those of them that need no project.
func CheckedOfMachine() []string {
	return []string{
		"claude.found", "claude.version", "claude.root", "start.login", "start.hooks", "tmux.version", "folder.state", "logout.server",
		"mac.server", "mac.tmux", "mac.sleep",
	}
}

const (
	sshCheck     = "host.ssh"
	programCheck = "host.program"
	clockCheck   = "host.clock"
	bootCheck    = "host.boot"
)

// AtBoot checks at this machine whether the agents of a project come back after a reboot, and outlive logouts. unit
// recovers them.
func AtBoot(ctx context.Context, unit string) doctor.Finding {
	f := doctor.Finding{Check: bootCheck, Level: doctor.Warning, Why: "after a reboot, its agents stay down until you bring them back"}
	state, err := export.StateOf(ctx, unit)
	_, absent := os.Stat("/run/systemd/system")
	self, unnamed := user.Current()
	switch {
	case err != nil && absent != nil:
		f.Level, f.What, f.Why = doctor.Note, "systemd does not run this machine: whether agents come back after a reboot was not checked", ""
	case err != nil:
		f.What = "whether agents come back after a reboot is unknown: " + human.OneLine(err.Error())
	case !state.Enabled:
		f.What = "no service brings the agents back after a reboot"
	case unnamed != nil || !logind.Lingers(ctx, self.Username):
		f.What = "the services of this user end with the last login, and begin with the next one"
	default:
		f.Level, f.What, f.Why = doctor.Holds, "agents come back after a reboot, and outlive each login", ""
	}
	return f
}

// AtLogin checks at this machine, a Mac, whether the agents of a project come back after a reboot. recovery is the label
// of the LaunchAgent that brings them back.
func AtLogin(ctx context.Context, recovery string) doctor.Finding {
	f := doctor.Finding{Check: bootCheck, Level: doctor.Warning, Why: "after a reboot, its agents stay down until you bring them back"}
	home, err := os.UserHomeDir()
	if err == nil {
		_, err = os.Stat(filepath.Join(home, agentFolder, recovery+export.Plist))
	}
	service, unasked := macos.ServiceOf(ctx, recovery)
	switch {
	case err != nil:
		f.What = "no LaunchAgent brings the agents back after a reboot"
	case unasked != nil:
		f.What = "whether agents come back after a reboot is unknown: " + human.OneLine(unasked.Error())
	case !service.Loaded:
		f.What = "launchd has not loaded the LaunchAgents: it does at the next login at the screen"
	default:
		f.Level, f.What, f.Why = doctor.Holds, "agents come back at each login at the screen", ""
	}
	return f
}

// Ask asks a host for its facts. Errors: those of an unreachable host; Unfit when its program is too old to say.
func Ask(ctx context.Context, h host.Host) (Facts, error) {
	answer, err := link.Once(ctx, h, "host", "facts", folderOf(h))
	if err != nil {
		return Facts{}, err
	}
	lines := bytes.Split(bytes.TrimSpace(answer.Out), []byte("\n")) // a shell may have printed some before
	var facts Facts
	if err := json.Unmarshal(lines[len(lines)-1], &facts); err != nil || answer.Code != 0 {
		return Facts{}, fail.Errorf(fail.Unfit, "the nbs-worker of %s does not say how it is: %s", h.Name, lastLine(answer.Said)).
			Hint("it may be too old; to replace it: %s", installOf(h))
	}
	return facts, nil
}

// folderOf returns the folder of a host's project, from the home folder there.
func folderOf(h host.Host) string {
	if h.Folder == "" {
		return "."
	}
	return h.Folder
}
