package launch

import (
	"os/user"
	"path/filepath"
	"strconv"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
)

// checkTrust checks the folder that --trust has Claude trust for the user. Claude then trusts everything in it, so
// checkTrust refuses the home folder and those above it. A folder outside the project must be named, except the worktree
// that was made for the agent.
func (s Starter) checkTrust(p *Plan) error {
	if !p.Trust {
		return nil
	}
	cwd := folder.Real(p.Record.LaunchCwd())
	for _, home := range s.homes() {
		if folder.Contains(cwd, home) {
			return fail.Errorf(fail.BadInput, "--trust cannot be used for %s: Claude would trust everything in your home folder", human.Quote(cwd)).
				Hint("give the agent its own folder: --cwd DIR").
				Hint("or answer Claude's question in its terminal: nbs-worker attach %s", p.Record.Handle)
		}
	}
	switch {
	case p.TrustDir != "" && folder.Real(p.TrustDir) != cwd:
		return fail.Errorf(fail.BadInput, "--trust names %s, and the agent works in %s", human.Quote(p.TrustDir), human.Quote(cwd)).
			Hint("to trust that folder: %s", TrustFlag(cwd))
	case p.TrustDir == "" && !folder.Contains(s.Project.Store.Project(), cwd) && !isInOwnTree(&p.Record, cwd):
		return fail.Errorf(fail.BadInput, "--trust without a folder is for folders of the project, and the agent works in %s", human.Quote(cwd)).
			Hint("to trust that folder, name it: %s", TrustFlag(cwd))
	}
	return nil
}

func isInOwnTree(r *agent.Record, cwd string) bool {
	return r.OwnWorktree.Path != "" && folder.Contains(r.OwnWorktree.Path, cwd)
}

// homes returns the folders that count as the user's home: /, $HOME, and the home in the user database, because $HOME
// may be unset or different.
func (s Starter) homes() []string {
	homes := []string{"/"}
	if home := s.Project.Variable("HOME"); filepath.IsAbs(home) {
		homes = append(homes, home)
	}
	if known, err := user.LookupId(strconv.Itoa(s.Project.UID)); err == nil && filepath.IsAbs(known.HomeDir) {
		homes = append(homes, known.HomeDir)
	}
	return homes
}

// TrustFlag returns the option that trusts a folder.
func TrustFlag(path string) string { return "--trust=" + human.ShellWord(folder.Real(path)) }
