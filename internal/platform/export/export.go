// Package export writes what service managers and schedulers need to run a team: units of systemd and LaunchAgents of
// launchd for one user, and jobs of Slurm and Kubernetes for one agent.
//
//   - A unit has paths and settings, and no secret: the units read secrets from a file of the user.
//   - The tmux server has a service of its own: the end of another service must not end the agents.
//   - Quoting keeps each path unchanged, whatever characters it has.
//
// The package knows no agents, and starts nothing.
package export

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// Team is the input for what keeps the agents of a project.
type Team struct {
	Program string   // absolute path of nbs-worker
	Tmux    string   // absolute path of tmux
	Project string   // absolute path of the project root
	Socket  string   // of the tmux server: a name, or a path; "" for the user's own
	Pause   string   // absolute path of the mark of a pause
	Policy  string   // absolute path of the policy of watch; "": no policy
	Logs    string   // absolute path of the folder for what launchd's services print
	Env     []string // NAME=value, that the services need
}

// Unit is a file for a service manager or a scheduler.
type Unit struct{ Name, Text string }

// mark is the first line of each unit, behind the one that names a shell. A file without it was not written by this
// program.
const mark = "# Made by nbs-worker export systemd; made again, it is replaced.\n"

// ServerName returns the name of the service of the agents' tmux server, without what its manager adds.
func (t Team) ServerName() string {
	switch {
	case t.Socket == "" || t.Socket == "default":
		return "nbs-tmux"
	case filepath.IsAbs(t.Socket):
		return "nbs-tmux-" + hash(t.Socket)
	}
	return "nbs-tmux-" + t.Socket
}

// RecoverName returns the name of the service that brings the project's agents back at boot.
func (t Team) RecoverName() string { return "nbs-recover-" + projectName(t.Project) }

// WatchName returns the name of the service that watches the project's agents.
func (t Team) WatchName() string { return "nbs-watch-" + projectName(t.Project) }

// ServeName returns the name of the service of the project's server of conversations.
func (t Team) ServeName() string { return "nbs-serve-" + projectName(t.Project) }

// projectName returns the name of the project in names of units. It has a hash, which differs for projects whose
// folders have the same name.
func projectName(project string) string {
	plain := strings.Map(func(r rune) rune {
		if isPlain(r) && r != '/' {
			return r
		}
		return '-'
	}, filepath.Base(project))
	const most = 40
	return plain[:min(len(plain), most)] + "-" + hash(project)
}

func hash(text string) string {
	const enough = 4 // bytes
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:enough])
}

// socket returns the options with which tmux finds the agents' server.
func (t Team) socket() []string {
	switch {
	case filepath.IsAbs(t.Socket):
		return []string{"-S", t.Socket}
	case t.Socket != "":
		return []string{"-L", t.Socket}
	}
	return []string{"-L", "default"}
}

// words returns the arguments of nbs-worker for a verb in the project.
func (t Team) words(args ...string) []string {
	words := []string{"--root", t.Project}
	if t.Socket != "" {
		words = append(words, "--tmux-socket", t.Socket)
	}
	return append(words, args...)
}

// watchWords returns the arguments of nbs-worker that watch the agents.
func (t Team) watchWords() []string {
	if t.Policy == "" {
		return t.words("watch")
	}
	return t.words("watch", "--policy", t.Policy)
}
