package watch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/notify"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/team/triage"
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
// project, so such a file needs the user's seal. Errors: Held; BadInput, naming the line.
func (f File) Policy(before Policy, check func(kind, name string, content []byte) error) (Policy, error) {
	if f.Name != "" {
		if err := check(SealKind, f.Name, f.Text); err != nil {
			return Policy{}, fail.Errorf(fail.KindOf(err), "policy %w", err).
				Hint("look at it, then: nbs-worker allow --policy %s", human.ShellWord(f.Path))
		}
	}
	policy, err := parse(before, f.Text)
	if err == nil {
		err = f.checkProgram(policy.Notify)
	}
	if err != nil {
		return Policy{}, fail.Errorf(fail.BadInput, "policy %s, %w", human.Quote(f.Path), err).
			Hint("what a policy may say: nbs-worker watch --help")
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
		return fmt.Errorf("notify: %s is in the project, where agents write", human.Quote(program))
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

// The shape of the file.
type policyFile struct {
	Agents   handles  `yaml:"agents"`
	Except   handles  `yaml:"except"`
	MaxLevel *level   `yaml:"max-level"`
	Every    duration `yaml:"every"`
	Patience duration `yaml:"patience"`
	Repairs  struct {
		PerHour  *count `yaml:"per-hour"`
		PerAgent *count `yaml:"per-agent"`
	} `yaml:"repairs"`
	Context struct {
		Bands   *bands `yaml:"bands"`
		Compact band   `yaml:"compact"`
	} `yaml:"context"`
	Notify *notifyFile `yaml:"notify"`
}

type notifyFile struct {
	Command argv     `yaml:"command"`
	On      kinds    `yaml:"on"`
	Timeout duration `yaml:"timeout"`
	PerHour *count   `yaml:"per-hour"`
}

func parse(p Policy, text []byte) (Policy, error) {
	file, err := load(text)
	if err != nil {
		return Policy{}, firstLine(err)
	}
	p.Agents, p.Except = file.Agents, file.Except
	setTo(&p.MaxLevel, (*triage.Level)(file.MaxLevel))
	setTo(&p.Every, file.Every.given())
	setTo(&p.Patience, file.Patience.given())
	setTo(&p.PerHour, (*int)(file.Repairs.PerHour))
	setTo(&p.PerAgent, (*int)(file.Repairs.PerAgent))
	setTo(&p.Bands, (*agent.Bands)(file.Context.Bands))
	switch file.Context.Compact {
	case "":
	case never:
		p.Compact = ""
	default:
		p.Compact = agent.Band(file.Context.Compact)
	}
	if n := file.Notify; n != nil {
		if len(n.Command) == 0 {
			return Policy{}, errors.New("notify: it needs a command")
		}
		const usual, atMost = 10 * time.Second, 30
		p.Notify = &Notify{Program: notify.Program{Argv: n.Command, Limit: usual}, Of: Kinds, PerHour: atMost}
		setTo(&p.Notify.Program.Limit, n.Timeout.given())
		setTo(&p.Notify.PerHour, (*int)(n.PerHour))
		if n.On != nil {
			p.Notify.Of = n.On
		}
	}
	return p, nil
}

// load reads the only document of a file; a file without a document sets nothing.
func load(text []byte) (file policyFile, err error) {
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithKnownFields())
	if err != nil {
		return file, err
	}
	if err := loader.Load(&file); err != nil && !errors.Is(err, io.EOF) {
		return file, err
	}
	var more any
	if err := loader.Load(&more); !errors.Is(err, io.EOF) {
		return file, cmp.Or(err, errors.New("there is a second document in it"))
	}
	return file, nil
}

func setTo[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

// firstLine returns the first error in the file, as "line 3: ...".
func firstLine(err error) error {
	if all, ok := errors.AsType[*yaml.LoadErrors](err); ok && len(all.Errors) > 0 {
		err = all.Errors[0]
	}
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		what, _, _ := strings.Cut(one.Message, " in type ") // the type is ours, and means nothing to the user
		if strings.HasPrefix(what, "cannot construct") {
			what = "a value of another kind belongs here"
		}
		return fmt.Errorf("line %d: %s", one.Mark.Line, strings.TrimSpace(what))
	}
	return err
}

// The values of the file; each reports its own errors.
type (
	handles  []agent.Handle
	level    triage.Level
	duration time.Duration
	count    int
	bands    agent.Bands
	band     string
	argv     []string
	kinds    []Kind
)

const never = "never"

func (d duration) given() *time.Duration {
	if d == 0 {
		return nil
	}
	return (*time.Duration)(&d)
}

func (h *handles) UnmarshalYAML(node *yaml.Node) error {
	var words []string
	if err := node.Decode(&words); err != nil {
		return errors.New("it must be a list of handles")
	}
	for _, word := range words {
		handle, err := agent.ParseHandle(word)
		if err != nil {
			return err
		}
		*h = append(*h, handle)
	}
	return nil
}

func (l *level) UnmarshalYAML(node *yaml.Node) error {
	if err := node.Decode((*int)(l)); err != nil || *l < 0 || *l > level(triage.LevelFresh) {
		return fmt.Errorf("%s is no level: it must be 0 (only tell) to %d (a new conversation)", human.Quote(node.Value), triage.LevelFresh)
	}
	return nil
}

func (d *duration) UnmarshalYAML(node *yaml.Node) error {
	parsed, err := time.ParseDuration(node.Value)
	if err != nil || parsed < time.Second {
		return fmt.Errorf("%s is no time of a second or more, such as 90s or 10m", human.Quote(node.Value))
	}
	*d = duration(parsed)
	return nil
}

func (c *count) UnmarshalYAML(node *yaml.Node) error {
	if err := node.Decode((*int)(c)); err != nil || *c < 1 {
		return fmt.Errorf("%s is no number of times, 1 or more", human.Quote(node.Value))
	}
	return nil
}

func (b *bands) UnmarshalYAML(node *yaml.Node) error {
	parsed, err := agent.ParseBands(node.Value)
	*b = bands(parsed)
	return err
}

func (b *band) UnmarshalYAML(node *yaml.Node) error {
	known := []string{never, string(agent.Low), string(agent.Critical)}
	if !slices.Contains(known, node.Value) {
		return fmt.Errorf("%s is not one of %s", human.Quote(node.Value), strings.Join(known, ", "))
	}
	*b = band(node.Value)
	return nil
}

func (a *argv) UnmarshalYAML(node *yaml.Node) error {
	if err := node.Decode((*[]string)(a)); err != nil || len(*a) == 0 || !filepath.IsAbs((*a)[0]) {
		return errors.New("it must be a list: the absolute path of a program, and its arguments; no shell reads it")
	}
	return nil
}

func (k *kinds) UnmarshalYAML(node *yaml.Node) error {
	if err := node.Decode((*[]Kind)(k)); err != nil {
		return errors.New("it must be a list of kinds")
	}
	for i, kind := range *k {
		if now, is := earlier[kind]; is {
			(*k)[i], kind = now, now
		}
		if !slices.Contains(Kinds, kind) {
			return fmt.Errorf("%s is not one of %s", human.Quote(string(kind)), strings.Join(kindNames(), ", "))
		}
	}
	return nil
}
