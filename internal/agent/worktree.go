package agent

import (
	"cmp"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// OwnWorktree is the git worktree that was made for an agent. It is removed only on request, and only when nothing in it
// can be lost.
type OwnWorktree struct {
	Path   string `json:"path"`   // its top folder, absolute
	Common string `json:"common"` // the git directory that all worktrees of the repository share, absolute
	Branch string `json:"branch"` // without refs/heads/: "nbs/alice"
	Base   string `json:"base"`   // the commit at which the branch began, in full
}

// OwnBranches is the beginning of the branches that are made for agents.
const OwnBranches = "nbs/"

// OwnBranch returns the usual branch of an agent's worktree.
func OwnBranch(handle Handle) string { return OwnBranches + string(handle) }

func (w *OwnWorktree) validate() error {
	if *w == (OwnWorktree{}) {
		return nil
	}
	if err := cmp.Or(CheckPath("worktree", w.Path), CheckPath("worktree", w.Common)); err != nil {
		return err
	}
	return cmp.Or(CheckBranch(w.Branch), CheckCommit(w.Base))
}

// CheckBranch checks the name of a branch by the rules of git check-ref-format, and refuses what could be read as an
// option, as what is checked out, or as the full name of a reference. Errors: BadInput.
func CheckBranch(name string) error {
	if !isBranch(name) {
		return fail.Errorf(fail.BadInput, "%s is not the name of a branch", human.Quote(name))
	}
	return nil
}

// CheckLink checks a name that a worktree shares with the main one. Errors: BadInput.
func CheckLink(name string) error {
	first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || name == "." || first == ".git" || !human.IsLegible(name) || strings.ContainsAny(name, "\t\n") {
		return fail.Errorf(fail.BadInput, "link: %s is not the path of a file or a folder in the repository, such as node_modules", human.Quote(name))
	}
	return nil
}

// CheckSetup checks the command line of a setup program. Errors: BadInput.
func CheckSetup(argv []string) error {
	if len(argv) == 0 || argv[0] == "" || strings.HasPrefix(argv[0], "-") || strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		return fail.Errorf(fail.BadInput, "setup: it must be a list: a program, by its absolute path or by a name on the PATH, and its arguments; no shell reads it")
	}
	return CheckText("setup", strings.Join(argv, " "))
}

// CheckCommit checks the full name of a commit. Errors: BadInput.
func CheckCommit(sum string) error {
	const sha1, sha256 = 40, 64 // hex digits
	if len(sum) != sha1 && len(sum) != sha256 || !isHex(sum) {
		return fail.Errorf(fail.BadInput, "%s is not the name of a commit", human.Quote(sum))
	}
	return nil
}

func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdef") == ""
}

func isBranch(name string) bool {
	if name == "" || name == "@" || name == "HEAD" || strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") || !utf8.ValidString(name) {
		return false
	}
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\\x7f") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, unicode.IsControl)
}
