package main

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The claude of a conversation may ask in another one: its text says from whom it is, and takes no id of its user's.
func TestAConversationAsksAnother(t *testing.T) {
	m := real(t)
	m.env = append(m.env, "PATH="+filepath.Dir(m.worker)+":"+filepath.Dir(rig.ClaudeBinary(t, versions[0]))+":"+os.Getenv("PATH"))
	asks := func(words string) string {
		got := m.ask(0, "outer", `[[tool Bash {"command":"nbs-worker ask `+words+`"}]]`, "--", "--allowedTools", "Bash(nbs-worker *)")
		return *got.Answer
	}
	m.mustSay(asks("inner hello --id 77"), "carries no authority")
	m.says("inner", "mine", "You said: mine", "--id", "77")
	m.mustSay(asks("outer hello"), "would wait for its own end")
	m.mustSay(m.ok("conversation", "history", "inner"), "carries no authority", "you: mine")
}
