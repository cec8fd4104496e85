package caller

import (
	"errors"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// agentWith is an agent of /project, in its folder, that may edit, but for a change.
func agentWith(change func(*Caller)) *Caller {
	c := &Caller{
		at: in("/project"), project: "/project", identified: true,
		record: agent.Record{
			Spec:    agent.Spec{Handle: "alpha", Cwd: "/project/a", PermissionMode: "acceptEdits", ClaudeArgs: []string{"--verbose"}},
			Process: &agent.Process{},
		},
	}
	change(c)
	return c
}

func in(project string) *observe.Project {
	return &observe.Project{Machine: local.New(), Store: store.Absent(project)}
}

type refusal struct {
	err  error
	held bool
}

func checkHeld(t *testing.T, cases map[string]refusal) {
	t.Helper()
	for what, c := range cases {
		rig.Check(t, (c.err != nil) == c.held && (!c.held || fail.KindOf(c.err) == fail.Held), "%s: %v; want held %t", what, c.err, c.held)
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	plain := agentWith(func(*Caller) {})
	manager := agentWith(func(c *Caller) { c.record.MayManage = true })
	mark := agentWith(func(c *Caller) { c.record.MayManage, c.identified = true, false })
	elsewhere := agentWith(func(c *Caller) { c.at = in("/other") })
	doubtful := agentWith(func(c *Caller) { c.record.MayManage, c.doubt = true, errors.New("it has ended") })
	colleague := func(change func(*agent.Spec)) *agent.Spec {
		r := plain.record.Spec
		r.Handle = "beta"
		change(&r)
		return &r
	}
	same := colleague(func(*agent.Spec) {})
	wider := colleague(func(r *agent.Spec) { r.PermissionMode = agent.BypassPermissions })
	var person *Caller
	adopting := Rule{Right: Manager, What: "adopt a claude"}
	checkHeld(t, map[string]refusal{
		"a person resumes":                 {person.CheckResume(wider, Return{Fresh: true}), false},
		"a person ends":                    {person.CheckDismiss(wider), false},
		"a person adopts":                  {person.Check(adopting), false},
		"a person allows":                  {person.CheckPerson("allow"), false},
		"a manager allows":                 {manager.CheckPerson("allow"), true},
		"a manager adopts":                 {manager.Check(adopting), false},
		"an agent adopts":                  {plain.Check(adopting), true},
		"a manager resumes one with more":  {manager.CheckResume(wider, Return{Force: true}), false},
		"a manager's mark":                 {mark.CheckResume(wider, Return{}), true},
		"a manager in doubt":               {doubtful.CheckResume(same, Return{}), true},
		"a person sets":                    {person.CheckSet(same, wider), false},
		"a manager sets":                   {manager.CheckSet(same, wider), false},
		"a manager in doubt sets":          {doubtful.CheckSet(same, same), true},
		"set":                              {plain.CheckSet(same, colleague(func(r *agent.Spec) { r.Model, r.InitialPrompt = "opus", "Begin." })), false},
		"set more than it has":             {plain.CheckSet(same, wider), true},
		"set less on one with more":        {plain.CheckSet(wider, same), true},
		"set a prompt that is a command":   {plain.CheckSet(same, colleague(func(r *agent.Spec) { r.InitialPrompt = "/login" })), true},
		"set in another project":           {elsewhere.CheckSet(same, same), true},
		"resume":                           {plain.CheckResume(same, Return{}), false},
		"resume in another project":        {elsewhere.CheckResume(same, Return{}), true},
		"resume one with more":             {plain.CheckResume(wider, Return{}), true},
		"resume one with other arguments":  {plain.CheckResume(colleague(func(r *agent.Spec) { r.ClaudeArgs = nil }), Return{}), true},
		"resume one with variables":        {plain.CheckResume(colleague(func(r *agent.Spec) { r.Env = map[string]string{"A": "b"} }), Return{}), true},
		"resume one with other settings":   {plain.CheckResume(colleague(func(r *agent.Spec) { r.Settings = "{}" }), Return{}), true},
		"resume one of another config":     {plain.CheckResume(colleague(func(r *agent.Spec) { r.ConfigDir = "/c" }), Return{}), true},
		"stop one with other settings":     {plain.CheckAct(colleague(func(r *agent.Spec) { r.Settings = "{}" }), "stop"), true},
		"resume one outside":               {plain.CheckResume(colleague(func(r *agent.Spec) { r.Cwd = "/project" }), Return{}), true},
		"resume one inside":                {plain.CheckResume(colleague(func(r *agent.Spec) { r.Cwd = "/project/a/b" }), Return{}), false},
		"resume elsewhere":                 {plain.CheckResume(same, Return{Cwd: "/"}), true},
		"resume fresh":                     {plain.CheckResume(same, Return{Fresh: true}), true},
		"resume another by force":          {plain.CheckResume(same, Return{Force: true}), true},
		"resume itself by force":           {plain.CheckResume(&plain.record.Spec, Return{Force: true}), false},
		"resume with another conversation": {plain.CheckResume(same, Return{SessionID: "x"}), true},
		"resume with a command":            {plain.CheckResume(same, Return{Start: launch.Start{Prompt: "/clear"}}), true},
		"stop":                             {plain.CheckAct(same, "stop"), false},
		"stop one with more":               {plain.CheckAct(wider, "stop"), true},
		"stop in another project":          {elsewhere.CheckAct(same, "stop"), true},
		"dismiss another":                  {plain.CheckDismiss(same), true},
		"dismiss itself, when in doubt":    {doubtful.CheckDismiss(&doubtful.record.Spec), false},
	})
}

func TestRights(t *testing.T) {
	t.Parallel()
	plain, elsewhere := agentWith(func(*Caller) {}), agentWith(func(c *Caller) { c.at = in("/other") })
	above := agentWith(func(c *Caller) { c.at, c.project, c.record.Cwd = in("/project/a"), "/project/b", "/project" })
	looking := Rule{Right: Member, What: "show the journal"}
	var person *Caller
	checkHeld(t, map[string]refusal{
		"a person looks":                    {person.Check(looking), false},
		"an agent looks":                    {plain.Check(looking), false},
		"an agent of another project looks": {elsewhere.Check(looking), true},
		"one that works above it looks":     {above.Check(looking), false},
		"an agent serves":                   {plain.Check(Rule{Right: Person, What: "serve"}), true},
		"an agent starts":                   {plain.Check(Rule{Right: Within, What: "start"}), false},
	})
}

func TestBestow(t *testing.T) {
	t.Parallel()
	plain := agentWith(func(*Caller) {})
	manager := agentWith(func(c *Caller) { c.record.MayManage = true })
	wider := agent.Spec{PermissionMode: agent.BypassPermissions}
	bestow := func(c *Caller, asked agent.Spec, start launch.Start) error {
		_, _, err := c.Bestow(asked, start)
		return err
	}
	checkHeld(t, map[string]refusal{
		"spawn":                          {bestow(plain, agent.Spec{}, launch.Start{Prompt: "hello"}), false},
		"spawn with more":                {bestow(plain, wider, launch.Start{}), true},
		"spawn a manager":                {bestow(plain, agent.Spec{MayManage: true}, launch.Start{}), true},
		"spawn elsewhere":                {bestow(plain, agent.Spec{Cwd: "/project/a/b"}, launch.Start{}), true},
		"spawn with a file":              {bestow(plain, agent.Spec{}, launch.Start{Prompt: "read @/etc/passwd"}), true},
		"spawn with trust":               {bestow(plain, agent.Spec{}, launch.Start{Trust: true}), true},
		"a manager spawns one with more": {bestow(manager, wider, launch.Start{Trust: true}), false},
	})
	if given, bound, _ := plain.Bestow(agent.Spec{}, launch.Start{}); !bound || given.PermissionMode != "acceptEdits" || given.Cwd != "/project/a" || given.Depth != 1 || len(given.ClaudeArgs) != 1 {
		t.Errorf("a colleague has not what its caller has: %+v", given)
	}
}
