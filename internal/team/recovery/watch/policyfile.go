package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

const policyLimit = 1 << 16 // bytes

// SealKind is the kind of the seal of a policy in a project.
const SealKind = "policy"

// File is a policy file.
type File struct {
	Path string // absolute, without links
	Name string // within the project; "" for a file elsewhere
	Text []byte

	project string // absolute
}

// OpenPolicy reads the file of a policy. Errors: NotFound; BadInput, also if others can write the file.
func OpenPolicy(path, project string) (File, error) {
	at, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = checkOwn(at)
	}
	if errors.Is(err, os.ErrNotExist) {
		return File{}, fail.Errorf(fail.NotFound, "there is no policy %s", human.Quote(path))
	}
	if err != nil {
		return File{}, err
	}
	file := File{Path: at, Name: below(project, at), project: project}
	if file.Text, err = smallfile.Read(at, policyLimit); err != nil {
		return File{}, fail.Errorf(fail.BadInput, "the policy cannot be read: %w", err)
	}
	return file, nil
}

// Policy returns the policy of the file; what the file does not set stays as before. Agents can write files in the
// project, so such a file needs the user's seal. Errors: Held; BadInput, which lists all mistakes.
func (f File) Policy(before Policy, check func(kind, name string, content []byte) error) (Policy, error) {
	if f.Name != "" {
		if err := check(SealKind, f.Name, f.Text); err != nil {
			return Policy{}, fail.Errorf(fail.KindOf(err), "policy %w", err).
				Hint("look at it, then: nbs-worker allow --policy %s", human.ShellWord(f.Path))
		}
	}
	policy, err := parse(f.Path, before, f.Text)
	if err == nil {
		err = f.checkProgram(policy.Notify)
	}
	if err != nil {
		return Policy{}, fail.Errorf(fail.BadInput, "%w", err).Hint("what a policy may say: nbs-worker help policy")
	}
	return policy, nil
}

// checkProgram refuses a program in the project, because agents can write there.
func (f File) checkProgram(n *Notify) error {
	if n == nil {
		return nil
	}
	program := n.Program.Argv[0]
	at, err := filepath.EvalSymlinks(program)
	if below(f.project, program) != "" || err == nil && below(f.project, at) != "" {
		return fmt.Errorf("policy %s, notify: %s is in the project, where agents write", human.Quote(f.Path), human.Quote(program))
	}
	return nil
}

// below returns the path of a file relative to a folder; "" for a file elsewhere.
func below(folder, file string) string {
	if name, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(name) {
		return name
	}
	return ""
}

func checkOwn(at string) error {
	info, err := os.Stat(at)
	if err != nil {
		return err
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() && owner != 0 || info.Mode().Perm()&0o022 != 0 {
		return fail.Errorf(fail.BadInput, "the policy %s can be written by others", human.Quote(at)).
			Hint("make it yours alone: chmod 600 %s", human.ShellWord(at))
	}
	return nil
}
