package teamfile

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// What is written is read as it was.
func TestFormat(t *testing.T) {
	t.Parallel()
	file, err := Parse("team.yaml", []byte(wholeFile))
	rig.Must(t, err)
	text, err := file.Format()
	rig.Must(t, err)
	again, err := Parse("team.yaml", text)
	rig.Must(t, err)
	rig.Same(t, string(text), file, again)
}

// A file of records says what they say, however odd.
func TestFileOfRecords(t *testing.T) {
	t.Parallel()
	const project = "/srv/p"
	spec := func(handle agent.Handle, change func(s *agent.Spec)) agent.Record {
		s := agent.Spec{Schema: 1, Handle: handle, ProjectRoot: project, Cwd: project, PermissionMode: "plan"}
		change(&s)
		return agent.Record{Spec: s}
	}
	records := []agent.Record{
		spec("null", func(s *agent.Spec) { s.Model = "sonet"; s.InitialPrompt = "a: #b\n  - c  \n\n'd'\u00e9\U0001F600" }),
		spec("12", func(s *agent.Spec) {
			s.Model = "default"
			s.InitialPrompt = "- x"
			s.Restart.Policy = "always"
			s.Memory = true
			s.NoAnswers = true
			s.Budget = "5.00/day"
		}),
		spec("true", func(s *agent.Spec) {
			s.ClaudeArgs = []string{"--agent", "reviewer", "--effort", "max", "--add-dir", "../x", "--verbose"}
			s.Settings = `{"a":["no",1,true,null,"",{"b c":"#x"}],"n":1.5,"o":{},"p":[],"q":"\u0007\n"}`
			s.Env = map[string]string{"A": "", "B": "${HOME} $x $${y", "C": "null", "D": " 1\n2\t", "E": "~", "F": "0x10"}
			s.Cwd = project + "/sub dir"
		}),
		spec("Odd_", func(s *agent.Spec) {
			s.ClaudeArgs = []string{"--effort", "odd", "--effort=max"}
			s.Cwd = "/elsewhere"
			s.InitialPrompt = "a\tb\nc\r\nd \u202e"
		}),
		spec("tree", func(s *agent.Spec) { s.OwnWorktree = agent.OwnWorktree{Path: "/w", Common: "/g", Branch: "nbs/tree"} }),
		spec("own", func(s *agent.Spec) { s.OwnWorktree = agent.OwnWorktree{Path: "/w", Common: "/g", Branch: "main"} }),
	}
	want := Of(project, records)
	text, err := want.Format()
	rig.Must(t, err)
	got, err := Parse("team.yaml", text)
	rig.Must(t, err)
	rig.Same(t, string(text), want, got)
	value, err := Expand(got.Agents[2].Environment["B"], nil)
	rig.Check(t, err == nil && value == records[2].Env["B"], "%q, %v", value, err)
}
