package supervisor

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"
)

// Set says what to change in the record of an agent; nil leaves a field unchanged.
type Set struct {
	Model          *agent.Model
	PermissionMode *agent.PermissionMode
	Prompt         *string // the first prompt of a conversation
	Restart        *agent.RestartWord
	Memory         *bool // its actions are observed
	Answers        *bool // a hook waits beside its dialogs for an answer
	Budget         *agent.Budget
	Args           *[]string
	Env            *map[string]string
	Settings       *string // Claude's, beside those that every agent gets
}

// Change is a field with a new value.
type Change struct {
	Field, From, To string
	Now             bool // it takes effect at once, not only from the next start
}

// Changed is the result of a change of a record.
type Changed struct {
	Record  agent.Record
	Changes []Change // empty: nothing was different
	Runs    bool     // the agent runs, with the earlier values
}

// Set changes the record of an agent, completely or not at all. A running agent goes on with the values of its start.
func (s *Supervisor) Set(ctx context.Context, handle agent.Handle, set Set) (Changed, error) {
	unlock, err := s.awaitVerb(ctx, handle, "set")
	if err != nil {
		return Changed{}, err
	}
	defer unlock()
	if set, err = s.signed(set); err != nil {
		return Changed{}, err
	}
	var changes []Change
	awaited := false
	r, err := s.Project.Store.Update(ctx, handle, func(r *agent.Record) error {
		if err := s.Project.Store.CheckSeal(r); err != nil { // a new seal would allow the whole record
			return err
		}
		before := r.Spec
		awaited = r.AwaitsStart()
		if r.Schema == 0 {
			if err := s.completeLegacy(r); err != nil {
				return err
			}
		}
		changes = set.Apply(&r.Spec)
		if r.LaunchRestart() == agent.RestartNo {
			r.Restarts.Next = time.Time{} // a launcher that waits to start it again leaves
		}
		return s.checkSet(&before, &r.Spec)
	})
	if err != nil {
		return Changed{}, err
	}
	if awaited && !r.AwaitsStart() {
		observe.Wake(s.Project.Machine, &r)
	}
	changed := Changed{Record: r, Changes: changes, Runs: s.Project.LookAt(ctx, r).Status.Running()}
	if len(changes) == 0 {
		return changed, nil
	}
	return changed, s.Project.Note(ctx, "set", &r, summary(changes))
}

// signed returns the change with a prompt that names its author.
func (s *Supervisor) signed(set Set) (Set, error) {
	if set.Prompt == nil {
		return set, nil
	}
	if err := s.Caller.CheckWords(launch.Start{Prompt: *set.Prompt}); err != nil {
		return set, err
	}
	set.Prompt = new(s.Caller.Signed(*set.Prompt))
	return set, nil
}

// Apply changes a spec, and returns what has changed.
func (set Set) Apply(spec *agent.Spec) (changes []Change) {
	note := func(field, from, to string, now bool) {
		if from != to {
			changes = append(changes, Change{Field: field, From: from, To: to, Now: now})
		}
	}
	if set.Model != nil {
		note("model", string(spec.Model), string(*set.Model), false)
		spec.Model = *set.Model
	}
	if set.PermissionMode != nil {
		note("permission-mode", string(spec.LaunchPermissionMode()), string(*set.PermissionMode), false)
		spec.PermissionMode = *set.PermissionMode
	}
	if set.Prompt != nil {
		note("prompt", spec.InitialPrompt, *set.Prompt, false)
		spec.InitialPrompt = *set.Prompt
	}
	if set.Restart != nil {
		note("restart", string(spec.LaunchRestart()), string(*set.Restart), true)
		spec.Restart.Policy = *set.Restart
	}
	if set.Memory != nil {
		note("memory", switched(spec.Memory), switched(*set.Memory), true)
		spec.Memory = *set.Memory
	}
	if set.Answers != nil {
		note("answers", switched(!spec.NoAnswers), switched(*set.Answers), false)
		spec.NoAnswers = !*set.Answers
	}
	if set.Budget != nil {
		note("budget", spec.Budget.Word(), set.Budget.Word(), true)
		spec.Budget = *set.Budget
	}
	if set.Args != nil {
		note("args", shellWords(spec.ClaudeArgs), shellWords(*set.Args), false)
		spec.ClaudeArgs = *set.Args
	}
	if set.Settings != nil {
		note("settings", spec.Settings, *set.Settings, false)
		spec.Settings = *set.Settings
	}
	if set.Env != nil {
		note("environment", envWords(spec.Env), envWords(*set.Env), false)
		spec.Env = *set.Env
	}
	return changes
}

// envWords returns variables as they are typed, in the order of their names.
func envWords(env map[string]string) string {
	words := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		words = append(words, name+"="+env[name])
	}
	return shellWords(words)
}

// shellWords returns words as they are typed.
func shellWords(words []string) string {
	return strings.Join(agent.Mapped(words, func(word string) string {
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\") {
			return human.ShellWord(word)
		}
		return word
	}), " ")
}

func switched(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// checkSet refuses what a start would refuse, and what the caller may not do.
func (s *Supervisor) checkSet(before, after *agent.Spec) error {
	if err := s.Caller.CheckSet(before, after); err != nil {
		return err
	}
	if before.LaunchPermissionMode() != after.LaunchPermissionMode() && claude.RefusesRoot(after, claude.Env(after, s.Project.Env, nil), s.Project.UID) {
		return fail.Errorf(fail.BadInput, "claude would refuse: %s", claude.RootRefusal).
			Hint("let it ask before it acts: permission-mode=acceptEdits")
	}
	if before.InitialPrompt != after.InitialPrompt {
		return claude.CheckPrompt(after.InitialPrompt)
	}
	return nil
}

// summary describes the changes for the journal, without prompt and settings.
func summary(changes []Change) string {
	words := make([]string, len(changes))
	for i, c := range changes {
		words[i] = c.Field + "=" + cmp.Or(c.To, "of Claude's choice")
		switch c.Field {
		case "prompt":
			words[i] = "another prompt"
		case "settings":
			words[i] = "other settings"
		}
	}
	return strings.Join(words, ", ")
}

// Reset makes an agent's restart policy forget its failures, and ends a hold. It returns what was remembered. It does
// not start the agent.
func (s *Supervisor) Reset(ctx context.Context, handle agent.Handle) (r agent.Record, was agent.Restarts, err error) {
	unlock, err := s.awaitVerb(ctx, handle, "reset")
	if err != nil {
		return r, was, err
	}
	defer unlock()
	r, err = s.Project.Store.Update(ctx, handle, func(r *agent.Record) error {
		was = r.Restarts
		r.Restarts = agent.Restarts{Next: was.Next, After: was.After}
		return s.Caller.CheckSet(&r.Spec, &r.Spec)
	})
	if err != nil || was.Hold == nil && len(was.Counted) == 0 {
		return r, was, err
	}
	return r, was, s.Project.Note(ctx, "reset", &r, human.Count(len(was.Counted), "failure")+" forgotten"+heldWords(was.Hold))
}

func heldWords(hold *agent.Hold) string {
	if hold == nil {
		return ""
	}
	return "; it was held: " + hold.Reason
}
