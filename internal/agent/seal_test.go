package agent

import (
	"reflect"
	"slices"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A seal is over the names and values of the spec in their order: what changes here makes every seal
// of before void, and each agent needs its user's word again.
func TestSealsOfBeforeStayGood(t *testing.T) {
	t.Parallel()
	r := Record{
		Spec: Spec{
			Schema: 1, Handle: "alpha", SessionID: "now", PreviousSessions: []PreviousSession{{SessionID: "then", Reason: "clear"}},
			Model: "opus", PermissionMode: "plan", ProjectRoot: "/p", Cwd: "/p/s", ConfigDir: "/c", ClaudeArgs: []string{"--add-dir", "/x"},
			Env: map[string]string{"B": "2", "A": "1"}, InitialPrompt: "Hello.", Restart: RestartPolicy{Policy: "no"}, MayManage: true, Depth: 2,
		},
		Process: &Process{Wrapped: &Identified{PID: 7, StartTicks: 70}, Tmux: &TmuxPlace{Socket: "/s"}},
	}
	want := []Field{
		{"schema", "1"}, {"handle", "alpha"}, {"session_id", "now"}, {"previous_sessions", "\x04then"}, {"model", "opus"},
		{"permission_mode", "plan"}, {"project_root", "/p"}, {"cwd", "/p/s"}, {"config_dir", "/c"}, {"claude_args", "\x09--add-dir\x02/x"},
		{"env", "\x01A\x011\x01B\x012"}, {"initial_prompt", "Hello."}, {"restart", "no"}, {"may_manage", "true"}, {"depth", "2"},
		{"process", "\x07wrapped\x14pid 7, started at 70\x06socket\x02/s"},
	}
	got := r.LaunchFields()
	rig.Check(t, slices.Equal(got, want), "got  %q\nwant %q", got, want)
	r.Memory = true
	want = slices.Insert(want, len(want)-1, Field{"memory", "true"})
	got = r.LaunchFields()
	rig.Check(t, slices.Equal(got, want), "with memory: got  %q\nwant %q", got, want)
	r.NoAnswers = true
	got, want = r.LaunchFields(), slices.Insert(want, len(want)-1, Field{"no_answers", "true"})
	rig.Check(t, slices.Equal(got, want), "without answers: got  %q\nwant %q", got, want)
	r.ForkOf = "5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"
	got, want = r.LaunchFields(), slices.Insert(want, len(want)-1, Field{"fork_of", string(r.ForkOf)})
	rig.Check(t, slices.Equal(got, want), "a fork: got  %q\nwant %q", got, want)
	r.Budget = "5.00/day"
	got, want = r.LaunchFields(), slices.Insert(want, len(want)-1, Field{"budget", "5.00/day"})
	rig.Check(t, slices.Equal(got, want), "with a budget: got  %q\nwant %q", got, want)
	r.OwnWorktree = OwnWorktree{"/w", "/r/.git", "b", "c"}
	got, want = r.LaunchFields(), slices.Insert(want, len(want)-1, Field{"own_worktree", "\x02/w\x07/r/.git\x01b\x01c"})
	rig.Check(t, slices.Equal(got, want), "with a worktree: got  %q\nwant %q", got, want)
	r.Settings = "{}"
	got, want = r.LaunchFields(), slices.Insert(want, len(want)-1, Field{"settings", "{}"})
	rig.Check(t, slices.Equal(got, want), "with settings: got  %q\nwant %q", got, want)
}

// Whoever adds a field to the record has to say whether it decides what is run.
func TestEveryFieldIsOfTheSpecOrObserved(t *testing.T) {
	t.Parallel()
	observed := []string{ // none of these changes what a start runs, or where; of the process a part is sealed
		"TmuxSession", "Started", "PID", "Created", "ClaudeVersion", "Desired", "Downed", "Seal", "EnvNames", "TranscriptSeen", "Process", "Exits", "Restarts", "Rename", "Move", "SlurmJob",
	}
	for field := range reflect.TypeFor[Record]().Fields() {
		rig.Check(t, !field.IsExported() || field.Anonymous || slices.Contains(observed, field.Name), "%s is neither observed nor of the spec", field.Name)
	}
	written := []reflect.Kind{reflect.String, reflect.Int, reflect.Bool}
	lists := []reflect.Type{reflect.TypeFor[[]string](), reflect.TypeFor[[]PreviousSession](), reflect.TypeFor[map[string]string](), reflect.TypeFor[RestartPolicy](), reflect.TypeFor[OwnWorktree]()}
	for field := range reflect.TypeFor[Spec]().Fields() {
		if !slices.Contains(written, field.Type.Kind()) && !slices.Contains(lists, field.Type) {
			t.Errorf("%s: sealValue does not know how to write a %s", field.Name, field.Type)
		}
	}
}

// A list is sealed with the borders of its words.
func TestLaunchFieldsOfListsThatJoinToTheSame(t *testing.T) {
	t.Parallel()
	values := map[string]bool{}
	for _, args := range [][]string{{"--a", "b"}, {"--a b"}, {"--ab", ""}, {"--ab"}, {}} {
		r := Record{Spec: Spec{ClaudeArgs: args}}
		i := slices.IndexFunc(r.LaunchFields(), func(f Field) bool { return f.Name == "claude_args" })
		values[r.LaunchFields()[i].Value] = true
	}
	rig.Check(t, len(values) == 5, "%d of 5 lists differ", len(values))
	a, b := Record{Spec: Spec{Env: map[string]string{"A": "B", "C": "D"}}}, Record{Spec: Spec{Env: map[string]string{"C": "D", "A": "B"}}}
	rig.Check(t, slices.Equal(a.LaunchFields(), b.LaunchFields()), "the order of a map decides")
}
