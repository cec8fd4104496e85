package agent

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Whoever adds a field to the record has to say whether it decides what is run.
func TestEveryFieldIsSealedOrObserved(t *testing.T) {
	t.Parallel()
	observed := []string{ // none of these changes what a start runs, or where
		"tmux_session", "started", "pid", "created", "claude_version", "desired", "env_names", "transcript_seen", "exits", "seal",
	}
	var sealed []string
	for _, field := range (&Record{}).LaunchFields() {
		sealed = append(sealed, field.Name)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Record]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && slices.Contains(sealed, name) == slices.Contains(observed, name) {
			t.Errorf("%s: sealed %v, observed %v", name, slices.Contains(sealed, name), slices.Contains(observed, name))
		}
	}
}

// A list is sealed with the borders of its words.
func TestLaunchFieldsOfListsThatJoinToTheSame(t *testing.T) {
	t.Parallel()
	values := map[string]bool{}
	for _, r := range []Record{
		{ClaudeArgs: []string{"--a", "b"}}, {ClaudeArgs: []string{"--a b"}}, {ClaudeArgs: []string{"--ab", ""}}, {ClaudeArgs: []string{"--ab"}}, {},
	} {
		i := slices.IndexFunc(r.LaunchFields(), func(f Field) bool { return f.Name == "claude_args" })
		values[r.LaunchFields()[i].Value] = true
	}
	if len(values) != 5 {
		t.Errorf("%d of 5 lists differ", len(values))
	}
	a, b := Record{Env: map[string]string{"A": "B", "C": "D"}}, Record{Env: map[string]string{"C": "D", "A": "B"}}
	if !slices.Equal(a.LaunchFields(), b.LaunchFields()) {
		t.Error("the order of a map decides")
	}
}
