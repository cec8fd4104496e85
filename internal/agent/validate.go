package agent

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Validate checks data from disk as strictly as a user's input, because its words become arguments of a program.
// Errors: BadInput; Unfit if the record has a newer schema.
func (r *Record) Validate() error {
	if r.Schema > Schema {
		return fail.Errorf(fail.Unfit, "the record has schema %d; this nbs-worker reads schemas up to %d", r.Schema, Schema).
			Hint("use the newer nbs-worker that wrote it; nothing was changed")
	}
	if r.Schema < 0 {
		return fail.Errorf(fail.BadInput, "schema %d is not valid", r.Schema)
	}
	return cmp.Or(
		r.Spec.validate(),
		CheckTmuxName(r.TmuxSession),
		checkEnvNames(r.EnvNames),
		checkDesired(r.Desired),
		checkProcess(r.Process),
		checkExits(r.Exits),
		checkRestarts(&r.Restarts), r.Rename.validate(), r.Move.validate(),
	)
}

func (s *Spec) validate() error {
	_, handleErr := ParseHandle(string(s.Handle))
	_, modelErr := ParseModel(string(s.Model))
	_, modeErr := ParsePermissionMode(string(s.LaunchPermissionMode()))
	_, restartErr := ParseRestartWord(string(s.LaunchRestart()))
	return cmp.Or(
		handleErr, canonical(s.SessionID), checkPrevious(s.PreviousSessions), modelErr, modeErr, restartErr,
		CheckPath("project_root", s.ProjectRoot), CheckPath("cwd", s.LaunchCwd()),
		CheckPath("config_dir", cmp.Or(s.ConfigDir, "/")), CheckText("initial_prompt", s.InitialPrompt),
		CheckText("claude_args", strings.Join(s.ClaudeArgs, " ")), checkEnv(s.Env), checkDepth(s.Depth), s.OwnWorktree.validate(), checkForkOf(s.ForkOf),
		CheckText("settings", s.Settings), s.Budget.validate(),
	)
}

func canonical(id SessionID) error {
	parsed, err := ParseSessionID(string(id))
	if err == nil && parsed != id {
		return fail.Errorf(fail.BadInput, "session id %s is not in lower case", human.Quote(string(id)))
	}
	return err
}

func checkForkOf(id SessionID) error {
	if id == "" {
		return nil
	}
	return canonical(id)
}

const tmuxNameLimit = 100

// CheckTmuxName checks a tmux session's name: it allows only characters without a meaning in a tmux target or format.
// Empty means "none yet". Errors: BadInput.
func CheckTmuxName(name string) error {
	if name == "" || len(name) <= tmuxNameLimit && isWord(name, "_", "_-") {
		return nil
	}
	return fail.Errorf(fail.BadInput, "tmux session name %s is not valid", human.Quote(name))
}

// CheckPath checks that a path is absolute and clean text. Errors: BadInput.
func CheckPath(field, path string) error {
	if !filepath.IsAbs(path) {
		return fail.Errorf(fail.BadInput, "%s %s is not an absolute path", field, human.Quote(path))
	}
	if strings.ContainsAny(path, "\x00\n\r") || !utf8.ValidString(path) {
		return fail.Errorf(fail.BadInput, "%s %s contains a line break or a NUL, or is not valid UTF-8", field, human.Quote(path))
	}
	return nil
}

// CheckText checks that a text can be an argument of a program and a JSON string unchanged: valid UTF-8 without NUL.
// Errors: BadInput.
func CheckText(what, text string) error {
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return fail.Errorf(fail.BadInput, "%s contains a NUL byte or is not valid UTF-8", what)
	}
	return nil
}

func checkEnv(env map[string]string) error {
	for name, value := range env {
		if !IsVariableName(name) {
			return fail.Errorf(fail.BadInput, "variable name %s is not valid", human.Quote(name))
		}
		if err := CheckText("variable "+name, value); err != nil {
			return err
		}
	}
	return nil
}

// checkEnvNames checks names that are shown to people in commands to paste.
func checkEnvNames(names []string) error {
	for _, name := range names {
		if !IsVariableName(name) {
			return fail.Errorf(fail.BadInput, "variable name %s in env_names is not valid", human.Quote(name))
		}
	}
	return nil
}

// IsVariableName reports whether a shell can export a variable of this name.
func IsVariableName(name string) bool { return isWord(name, "_", "_") && !isDigit(name[0]) }

func checkDesired(d Desired) error {
	switch d {
	case "", DesiredRunning, DesiredStopped:
		return nil
	}
	return fail.Errorf(fail.BadInput, "desired %s is neither running nor stopped", human.Quote(string(d)))
}

func checkDepth(depth int) error {
	if depth < 0 {
		return fail.Errorf(fail.BadInput, "depth %d is not valid", depth)
	}
	return nil
}

// checkProcess checks the fields by which processes and servers are found: an empty invocation would match all of
// them.
func checkProcess(p *Process) error {
	if p == nil {
		return nil
	}
	if _, err := ParseSessionID(string(p.Invocation)); err != nil {
		return fail.Errorf(fail.BadInput, "invocation %s is not a UUID", human.Quote(string(p.Invocation)))
	}
	if p.PID == 1 {
		return fail.Errorf(fail.BadInput, "pid 1 cannot belong to an agent")
	}
	if p.Job != "" {
		if err := CheckJob(p.Job); err != nil {
			return err
		}
	}
	if p.Tmux != nil {
		return CheckPath("tmux path", p.Tmux.Path)
	}
	return nil
}

// CheckJob checks the name of a job of a scheduler, such as slurm/cluster/nbs-team-alice. Errors: BadInput.
func CheckJob(name string) error {
	const most = 200
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:", r)
	}
	if name != "" && len(name) <= most && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		return nil
	}
	return fail.Errorf(fail.BadInput, "%s is not a name for a job", human.Quote(name)).
		Hint("a name has 1 to %d letters, digits or - _ . / :, such as slurm/main/nbs-team-alice", most)
}

// checkPrevious checks the ids of earlier conversations. They are shown as ids to take up again, so people will paste
// them.
func checkPrevious(sessions []PreviousSession) error {
	for _, previous := range sessions {
		if err := canonical(previous.SessionID); err != nil {
			return fail.Errorf(fail.BadInput, "previous_sessions: %w", err)
		}
		if err := CheckText("reason of a previous session", previous.Reason); err != nil {
			return err
		}
	}
	return nil
}

// EndReasonLimit is the greatest length of Claude's reason for an end, in bytes.
const EndReasonLimit = 64

// checkExits checks the fields of exits that are shown or used for conclusions.
func checkExits(exits []Exit) error {
	for _, exit := range exits {
		if !IsEndReason(exit.EndReason) {
			return fail.Errorf(fail.BadInput, "end_reason of an exit is not a word: %s", human.Quote(exit.EndReason))
		}
		if exit.Cause != "" && !slices.Contains(causes, exit.Cause) {
			return fail.Errorf(fail.BadInput, "unknown cause of an exit: %s", human.Quote(string(exit.Cause)))
		}
	}
	return nil
}

// IsEndReason reports whether a text may be Claude's reason for an end: one word, or empty.
func IsEndReason(text string) bool {
	return text == "" || len(text) <= EndReasonLimit && isWord(text, "_", "_-")
}
