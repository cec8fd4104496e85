package hosts

import (
	"path/filepath"
	"testing"

	"nbs-worker/internal/e2e"
)

// asked is what requests --json tells, as far as these tests ask.
type asked struct{ ID, Handle, Tool string }

// asks has an agent at a host ask for a tool, and returns its request once a person here sees it.
func (f *fleet) asks(handle, at, tool, input string) (r asked) {
	f.Helper()
	f.Send(0, "accepted", handle+"@"+at, "[[tool "+tool+" "+input+"]]")
	h := f.hosts[at]
	h.WaitNews(handle+" asks for "+tool, func() string { return h.News(handle) }, func() (bool, string) {
		return h.OK("requests", "--json") != "[]\n", h.Screen(handle)
	})
	var open []asked
	f.Decode(&open, "requests", "--host", at, "--json")
	f.Check(len(open) == 1 && open[0].Tool == tool && open[0].Handle == handle, "open at %s: %+v", at, open)
	return open[0]
}

// What an agent asks for at a host is seen, approved, refused and answered from here.
func TestAnswersAtAHost(t *testing.T) {
	f := onReal(t, "build1")
	h := f.hosts["build1"]
	const alice = "alice@build1"
	f.OK("spawn", alice, "--model", "sonnet", "--permission-mode", "default")
	h.WaitState("alice", "idle")
	for file, verb := range map[string]string{"one": "approve", "two": "deny"} {
		path := filepath.Join(h.Dir, file)
		r := f.asks("alice", "build1", "Bash", `{"command":"touch `+path+`"}`)
		f.MustSay(f.OK("requests", "--hosts"), "build1\t", "touch "+path)
		f.MustPrint(alice+"\n", verb, alice, r.ID)
		h.WaitState("alice", "idle")
		f.Check(e2e.Exists(path) == (verb == "approve"), "after %s the file is there: %t", verb, e2e.Exists(path))
	}
	r := f.asks("alice", "build1", "AskUserQuestion", e2e.Question)
	f.MustPrint(alice+"\n", "answer", alice, r.ID, "1")
	h.WaitState("alice", "idle")
	f.MustPrint("[]\n", "requests", "--host", "build1", "--json")
	f.Refused(5, "answered already", "approve", alice, r.ID)
}
