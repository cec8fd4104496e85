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
		"top": "did you mean: nbs-worker list --usage", "mv web api": "did you mean: nbs-worker rename web NEW\n", "git web": "to see an agent's folder: nbs-worker session web;",
		"accept web": "did you mean: nbs-worker approve web\n", "no": "did you mean: nbs-worker deny HANDLE\n", "open web": "did you mean: nbs-worker attach web\n",
		"tail web": "did you mean: nbs-worker logs web\n", "costs": "did you mean: nbs-worker cost\n", "kill a/b": "did you mean: nbs-worker stop HANDLE\n",
		"outbox lst": "did you mean: nbs-worker outbox list\n", "outbox ps": "hint: nbs-worker outbox --help\n", "memory serch": "did you mean: nbs-worker memory search\n",
		"cat": "nbs-worker logs HANDLE\n", "read web": "did you mean: nbs-worker logs web\n", "dashboard": "did you mean: nbs-worker dash\n",
		"help host nosuch": "host has no command \"nosuch\"\nhint: nbs-worker help host\n", "help stop web": "hint: nbs-worker help stop\n",
		"help 5": "hint: what the exit codes mean: nbs-worker help exit-codes\n", "help codes": "did you mean: nbs-worker help exit-codes\n",
		"find": "hint: nbs-worker --help\n", "docs": "hint: nbs-worker --help\n", "status": "did you mean: nbs-worker list\n", "status web": "did you mean: nbs-worker session web\n", "sesion": "did you mean: nbs-worker session\n",
	} {
		run(strings.Fields(typed)...).want(t, fail.BadInput, want)
	}
	for line, words := range ui.OtherNames {
		verb, _, err := Tree().Find(strings.Fields(line)[:1])
		rig.Check(t, err == nil && verb.HasParent(), "%s: there is no such verb", line)
		for _, word := range words {
			own, _, err := Tree().Find([]string{word})
			rig.Check(t, err != nil || !own.HasParent(), "%s stands for another verb, and is one", word)
			rig.Check(t, ui.NoVerb[word] == "", "%s stands for a verb and for none", word)
		}
	}
}

// A handle that is cut short or misspelled is answered by the agent that was probably meant.
func TestHintForAMisspelledHandle(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("theologian"), uitest.Record("web"))
	list := "? To see the agents: nbs-worker --root " + project + " list"
	run("--root", project, "screen", "th").want(t, fail.NotFound, "hint: did you mean theologian"+list+"\n")
	run("--root", project, "session", "theo", "--json").want(t, fail.NotFound, `"did you mean theologian`+list+`"`)
	run("--root", project, "send", "theologian", "wbe", "--queue", "web, go on").want(t, fail.Partial, "did you mean web"+list)
	run("--root", project, "ask", "@theo", "Are you there?").want(t, fail.NotFound, "did you mean theologian"+list)
}

// A text without quotes is not sent by its last word: do not delete it would be "it".
func TestTextWithoutQuotes(t *testing.T) {
	t.Parallel()
	web := uitest.Record("web")
	project := newProject(t, uitest.Record("theologian"), web)
	hint := "in quotes: nbs-worker --root " + project + " send web 'TEXT'\n"
	for _, line := range []string{"send web do not delete it --queue", "send web the send of the web", "send --queue web hello all"} {
		r := run(append([]string{"--root", project}, strings.Fields(line)...)...).want(t, fail.NotFound, "; nothing was sent\n", hint)
		rig.Equal(t, r.out, "", "%s", line)
	}
	run("--root", project, "send", "web", "please,", "look").want(t, fail.BadInput, `handle "please," is not valid`, hint)
	run("--root", project, "send", "web", "theolog", "look", "--queue").want(t, fail.Partial, "did you mean theologian? ")
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
