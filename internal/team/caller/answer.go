package caller

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/folder"
)

// Granted is what an answer to a request of an agent allows. The zero value allows nothing: a refusal, or the answer
// to a question.
type Granted struct {
	What string // in a refusal: "Bash"
	Edit string // the absolute path of the only file that may be written; "": see Any
	Any  bool   // something else is allowed
}

// CheckAnswer does not let an agent answer the requests of agents, its own included. An agent that may manage may
// refuse, answer questions, and allow what its own permission mode does without asking: in acceptEdits and auto the
// edit of a file in its own folder, in bypassPermissions all. Errors: Held.
func (c *Caller) CheckAnswer(granted Granted) error {
	if c == nil {
		return nil
	}
	if err := c.checkKnown(); err != nil {
		return err
	}
	if !c.manages() {
		return c.denied("to answer for an agent")
	}
	switch mode := c.mode(); {
	case !granted.Any && granted.Edit == "":
		return nil
	case mode == agent.BypassPermissions:
		return nil
	case !granted.Any && (mode == "acceptEdits" || mode == "auto") && isOpenTo(c.record.LaunchCwd(), granted.Edit):
		return nil
	default:
		return c.wider(granted.What, mode)
	}
}

// isOpenTo reports whether a file is in a folder, wherever links lead, and no name on the way to it begins with a dot:
// Claude asks before it edits settings and repositories also in acceptEdits.
func isOpenTo(dir, file string) bool {
	if !filepath.IsAbs(file) {
		return false
	}
	real, known := resolved(filepath.Clean(file))
	within, err := filepath.Rel(folder.Real(dir), real)
	return known && err == nil && !slices.ContainsFunc(strings.Split(within, string(filepath.Separator)), func(name string) bool {
		return strings.HasPrefix(name, ".")
	})
}

// resolved returns a path without the links of the part that exists. known is false if a link leads nowhere.
func resolved(path string) (real string, known bool) {
	missing := ""
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, missing), true
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return "", false
		}
		missing, path = filepath.Join(filepath.Base(path), missing), filepath.Dir(path)
	}
}

// wider returns the error about an answer that allows more than the caller's own mode.
func (c *Caller) wider(what string, mode agent.PermissionMode) error {
	return fail.Errorf(fail.Held, "%s called this, and to allow %s is more than its own permission mode, %s, does without asking", c, what, mode).
		Hint("a person can do it, in a terminal of their own")
}
