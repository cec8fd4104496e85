package caller

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// answering is an answer of a caller.
type answering struct {
	caller  *Caller
	granted Granted
	held    bool
}

// An agent answers for no agent. One that may manage never allows more than its own mode does without asking.
func TestWhoMayAnswer(t *testing.T) {
	t.Parallel()
	dir := rig.MemoryDir(t)
	own, out := dir+"/own", dir+"/out"
	for _, folder := range []string{own, own + "/.claude", own + "/sub", out} {
		rig.Must(t, os.Mkdir(folder, 0o700))
	}
	rig.Must(t, os.Symlink(out, own+"/link"))
	rig.Must(t, os.Symlink(out+"/missing", own+"/dangling"))
	rig.Must(t, os.Symlink(own+"/sub", own+"/inward"))
	in := func(mode agent.PermissionMode, change func(*Caller)) *Caller {
		return agentWith(func(c *Caller) {
			c.record.Cwd, c.record.PermissionMode, c.record.MayManage = own, mode, true
			change(c)
		})
	}
	asItIs := func(*Caller) {}
	var person *Caller
	nothing, command := Granted{}, Granted{What: "Bash", Any: true}
	edit := func(path string) Granted { return Granted{What: "Edit", Edit: filepath.Join(own, path)} }
	cases := map[string]answering{
		"a person allows":                        {person, command, false},
		"an agent refuses":                       {agentWith(asItIs), nothing, true},
		"an agent allows":                        {agentWith(asItIs), command, true},
		"one that bypasses allows":               {agentWith(func(c *Caller) { c.record.PermissionMode = agent.BypassPermissions }), command, true},
		"a mark of a manager refuses":            {in(agent.BypassPermissions, func(c *Caller) { c.identified = false }), nothing, true},
		"a manager in doubt refuses":             {in(agent.BypassPermissions, func(c *Caller) { c.doubt = errors.New("it has ended") }), nothing, true},
		"a manager refuses":                      {in("plan", asItIs), nothing, false},
		"a manager that bypasses allows":         {in(agent.BypassPermissions, asItIs), command, false},
		"a manager that edits allows a command":  {in("acceptEdits", asItIs), command, true},
		"a manager in auto allows a command":     {in("auto", asItIs), command, true},
		"a manager that asks allows an edit":     {in("default", asItIs), edit("a.go"), true},
		"a manager without a mode allows":        {in("", asItIs), command, false}, // our default bypasses
		"a manager in a new mode allows an edit": {in("newMode", asItIs), edit("a.go"), true},
		"an edit with a rule":                    {in("acceptEdits", asItIs), Granted{What: "Edit with a rule", Any: true}, true},
	}
	for path, held := range map[string]bool{
		"a.go": false, "sub/new/a.go": false, "inward/a.go": false, "../out/a.go": true, "link/a.go": true, "link/new/a.go": true,
		"dangling": true, "dangling/a.go": true, ".claude/settings.json": true, "sub/.env": true, ".": true,
	} {
		cases["edit "+path] = answering{in("acceptEdits", asItIs), edit(path), held}
	}
	cases["a relative path"] = answering{in("acceptEdits", asItIs), Granted{What: "Edit", Edit: "a.go"}, true}
	for what, c := range cases {
		checkHeld(t, map[string]refusal{what: {c.caller.CheckAnswer(c.granted), c.held}})
	}
}
