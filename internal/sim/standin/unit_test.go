package standin

import (
	"bufio"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestParseWhims(t *testing.T) {
	w, err := parseWhims("start-delay=4s, die-after=1s,die-code=3,refuse-term,dialog=trust,no-registry,version=2.1.100,print-error=a b: c")
	rig.Must(t, err)
	if w.startDelay != 4*time.Second || w.dieAfter != time.Second || w.dieCode != 3 || !w.refuseTerm || w.dialog != "trust" || !w.noRegistry || w.printError != "a b: c" || !w.old() {
		t.Errorf("whims = %+v", w)
	}
	for _, bad := range []string{"nonsense", "start-delay=soon", "dialog=tea", "die-code=x"} {
		_, err := parseWhims(bad)
		rig.Check(t, err != nil, "%q was accepted", bad)
	}
	w, err = parseWhims("")
	rig.Check(t, err == nil && !w.old() && w.version == DefaultVersion, "default = %+v, %v", w, err)
}

// Each line of a prompt but the first is indented, also where a long one goes on.
func TestBoxOfALongPrompt(t *testing.T) {
	rig.Same(t, "the box", box("one\ntwo three", 8), []string{"❯ one", "  two t", "  hree"})
	rig.Same(t, "an empty box", box("", 8), []string{"❯ "})
}

func TestParseOptions(t *testing.T) {
	o, err := parseOptions([]string{"--session-id=6d3f2b1a-0000-4000-8000-000000000000", "--model", "opus", "-p", "--", "--not", "a flag"}, whims{version: DefaultVersion})
	rig.Check(t, err == nil && o.model == "opus" && o.print && o.prompt == "--not a flag" && o.sessionID != "", "%+v, %v", o, err)
	for _, bad := range [][]string{{"--nosuch"}, {"--model"}, {"--session-id", "x"}} {
		_, err := parseOptions(bad, whims{})
		rig.Check(t, err != nil, "%q was accepted", bad)
	}
}

func TestReadKeys(t *testing.T) {
	input := "hé\r\x1b[A\x1b[200~one\rtwo~ three\x1b[201~\x7f\x03\x1b\rx\n\x1b[3;5~"
	r := bufio.NewReader(strings.NewReader(input))
	var got []key
	for {
		k, ok, err := readKey(r)
		if err != nil {
			break
		}
		if ok {
			got = append(got, k)
		}
	}
	want := []key{
		{keyText, "hé"}, {kind: keyEnter}, {kind: keyUp}, {keyPaste, "one\ntwo~ three"}, {kind: keyBackspace},
		{kind: keyInterrupt}, {kind: keyNewline}, {keyText, "x"}, {kind: keyNewline},
	}
	rig.Check(t, slices.Equal(got, want), "keys = %v\nwant   %v", got, want)
}

// Two writers fork the tree; who reads follows the newest leaf, and the other branch is silently forgotten.
func TestConversationFollowsTheNewestLeaf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir", "u.jsonl")
	open := func() *transcript {
		tr := &transcript{path: path, template: record{SessionID: "u"}}
		rig.Must(t, tr.load())
		return tr
	}
	say := func(tr *transcript, role, text string) {
		rig.Must(t, tr.add(role, message{Role: role, Content: quoted(text)}, func(*record) {}))
	}
	first := open()
	say(first, "user", "Remember 1")
	second := open()
	say(first, "assistant", "OK")
	say(second, "assistant", "OK too")
	rig.Must(t, appendLine(path, []byte(`{"cut":`)))
	var said []string
	for _, m := range open().conversation() {
		said = append(said, plain(m))
	}
	rig.Check(t, slices.Equal(said, []string{"Remember 1", "OK too"}), "conversation = %q", said)
}

func TestAnswerBeforeItsQuestion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "u.jsonl")
	for _, line := range []string{
		`{"type":"assistant","uuid":"b","parentUuid":"a","message":{"role":"assistant","content":"OK"}}`,
		`{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"Remember 1"}}`,
	} {
		rig.Must(t, appendLine(path, []byte(line)))
	}
	tr := &transcript{path: path}
	rig.Must(t, tr.load())
	said := tr.conversation()
	rig.Check(t, len(said) == 2 && plain(said[1]) == "OK", "conversation = %v", said)
}

func TestTrustReachesDown(t *testing.T) {
	c := &config{data: map[string]any{"projects": map[string]any{"/a/b": map[string]any{"hasTrustDialogAccepted": true}}}}
	for dir, want := range map[string]bool{"/a/b": true, "/a/b/c/d": true, "/a": false, "/a/bc": false} {
		rig.Check(t, c.trusts(dir) == want, "trusts(%s) = %v", dir, !want)
	}
}

func TestSlug(t *testing.T) {
	got := slug("/srv/h/a.b_c d")
	rig.Check(t, got == "-srv-h-a-b-c-d", "%s", got)
	got = slug("/" + strings.Repeat("x", 300))
	rig.Check(t, len(got) == 207, "%d characters", len(got))
}

func TestEndpointIsLoopbackOnly(t *testing.T) {
	for base, ok := range map[string]bool{"http://127.0.0.1:1": true, "http://[::1]:1": true, "https://api.anthropic.com": false, "": false, "http://10.0.0.1": false} {
		t.Setenv("ANTHROPIC_BASE_URL", base)
		_, err := endpoint()
		rig.Check(t, (err == nil) == ok, "%q: %v", base, err)
	}
}

func TestPlainReadsBothForms(t *testing.T) {
	for _, content := range []string{`"hello"`, `[{"type":"text","text":"hello"}]`} {
		got := plain(message{Content: json.RawMessage(content)})
		rig.Check(t, got == "hello", "%s = %q", content, got)
	}
}
