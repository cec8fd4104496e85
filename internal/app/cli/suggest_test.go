package cli

import (
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A word of another tool is answered by the verb that does it here, and not by the one that is spelled like it.
func TestWordsOfOtherTools(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"top": "did you mean: nbs-worker list --usage", "rename web api": "nbs-worker dismiss OLD --keep", "diff web": "to see an agent's folder: nbs-worker session web;",
		"approve web": "questions are answered in the agent's terminal: nbs-worker attach web\n", "answer": ": nbs-worker attach HANDLE\n", "open web": "did you mean: nbs-worker attach web\n",
		"tail web": "did you mean: nbs-worker logs web\n", "costs": "did you mean: nbs-worker list\n", "kill a/b": "did you mean: nbs-worker stop HANDLE\n",
		"outbox lst": "did you mean: nbs-worker outbox list\n", "outbox ps": "hint: nbs-worker outbox --help\n", "memory serch": "did you mean: nbs-worker memory search\n",
		"cat": "nbs-worker logs HANDLE\n", "find": "hint: nbs-worker --help\n", "docs": "hint: nbs-worker --help\n", "status": "did you mean: nbs-worker list\n", "status web": "did you mean: nbs-worker session web\n", "sesion": "did you mean: nbs-worker session\n",
	} {
		run(strings.Fields(typed)...).want(t, fail.BadInput, want)
	}
	for line, words := range ui.OtherNames {
		verb, _, err := Tree().Find(strings.Fields(line)[:1])
		rig.Check(t, err == nil && verb.HasParent(), "%s: there is no such verb", line)
		for _, word := range words {
			rig.Check(t, ui.NoVerb[word] == "", "%s stands for a verb and for none", word)
		}
	}
}

// A handle that is cut short or misspelled is answered by the line to paste, with all that was typed.
func TestHintForAHandleCanBePasted(t *testing.T) {
	t.Parallel()
	api, web := uitest.Record("theologian"), uitest.Record("web")
	project := newProject(t, api, web)
	at := "hint: did you mean: nbs-worker --root " + project + " "
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"screen", "th"}, "screen theologian\n"},
		{[]string{"session", "theo", "--json"}, `"did you mean: nbs-worker --root ` + project + ` session theologian --json"`},
		{[]string{"send", "wbe", "it's time"}, `send web 'it'\''s time'` + "\n"},
		{[]string{"send", "theologian", "wbe", "--queue", "web, go on"}, `send web --queue 'web, go on'` + "\n"},
		{[]string{"resume", "w", "--model", "haiku", "--dry-run"}, "resume web --model haiku --dry-run\n"},
		{[]string{"ask", "@theo", "Are you there?"}, "ask @theologian 'Are you there?'\n"},
		{[]string{"outbox", "list", "theo"}, "outbox list theologian\n"},
	} {
		want := c.want
		if !strings.HasPrefix(want, `"`) {
			want = at + want
		}
		r := run(append([]string{"--root", project}, c.args...)...)
		rig.Check(t, strings.Contains(r.err, want), "%v: stderr is\n%s\nwant %s", c.args, r.err, want)
	}
}

// A text without quotes is not sent by its last word: do not delete it would be "it".
func TestTextWithoutQuotes(t *testing.T) {
	t.Parallel()
	web := uitest.Record("web")
	project := newProject(t, uitest.Record("theologian"), web)
	at := "in quotes: nbs-worker --root " + project + " send "
	for line, want := range map[string]string{
		"send web do not delete it --queue": at + "web 'do not delete it' --queue\n",
		"send web the send of the web":      at + "web 'the send of the web'\n",
		"send --queue web hello all":        at + "--queue web 'hello all'\n",
	} {
		r := run(append([]string{"--root", project}, strings.Fields(line)...)...).want(t, fail.NotFound, "; nothing was sent\n", want)
		rig.Equal(t, r.out, "", "%s", line)
	}
	run("--root", project, "send", "web", "please,", "look").want(t, fail.BadInput, `handle "please," is not valid`, at+"web 'TEXT'\n")
	run("--root", project, "send", "web", "theolog", "look", "--queue").want(t, fail.Partial, "did you mean: ")
	run("--root", project, "send", "web", "nosuch", "theologian", "look", "--queue").want(t, fail.Partial, "send nosuch: no such agent")
}

// A verb about an agent that does not exist reports an error, and no result.
func TestNoResultOfAnAgentThatDoesNotExist(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	for _, line := range []string{
		"send nosuch text", "send nosuch text --queue", "session nosuch", "resume nosuch", "stop nosuch", "dismiss nosuch", "interrupt nosuch", "compact nosuch", "wait nosuch --for idle",
		"screen nosuch", "logs nosuch", "set nosuch model=opus", "reset nosuch", "outbox list nosuch", "triage nosuch", "recover nosuch",
	} {
		r := run(append([]string{"--root", project}, append(strings.Fields(line), "--json")...)...).want(t, fail.NotFound, `"kind":"not found"`)
		isError := r.out == "" || r.out == "[]\n" || strings.HasPrefix(r.out, `[{"handle":"nosuch","error":{"kind":"not found",`)
		rig.Check(t, isError, "%s: stdout is %s", line, r.out)
	}
}
