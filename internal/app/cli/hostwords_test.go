package cli

import (
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
)

// What names a host wrongly changes nothing, here or there, and says what to type.
func TestWordsAboutHosts(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t, uitest.Record("bob"), uitest.Record("carol"))})
	t.Chdir(newProject(t, uitest.Record("alpha"), uitest.Record("carol")))
	for line, want := range map[string][]string{
		"--host build1":                            {"--host and --hosts need a command", "hint: nbs-worker list --hosts"},
		"--hosts":                                  {"--host and --hosts need a command"},
		"dismiss --all --yes --host=":              {"dismiss: --host names no host"},
		"stop bob@build1 --host build1":            {`stop: "bob@build1" names a host, and --host does too`},
		"host list --host build1":                  {"your hosts are a matter of this machine", "hint: without --host: nbs-worker host list"},
		"dash --host build1":                       {"it cannot be run at a host from here", "hint: go there: ssh of-build1\n"},
		"move alpha bob --to build1":               {"move: one handle is needed, 2 given"},
		"move carol --to build1":                   {"move carol: at build1: the handle is taken\nhint: to see the agent that has it: nbs-worker --host build1 session carol\nhint: to give that one another name: nbs-worker --host build1 rename carol NAME\n"},
		"move carol@build1 --to here":              {"the handle is taken\nhint: to see the agent that has it: nbs-worker session carol\nhint: to give that one another name: nbs-worker rename carol NAME\n"},
		"host result build1":                       {"host result: a host and the id of a request are needed, 1 given"},
		"host add here me@build1":                  {"here is the word for this machine"},
		"host add build2 me@build1:src/app":        {"it has a folder or a port", "hint: a folder is an option: me@build1 --folder 'src/app'"},
		"host add build2 build1 --folder /x --yes": {"belong to --install"},
		"export slurm alpha@build2":                {`there is no host "build2"`},
		"export kubernetes nosuch --image i":       {"export kubernetes nosuch: no such agent"},
	} {
		r := run(strings.Fields(line)...)
		rig.Check(t, r.code != 0, "%s: code 0", line)
		for _, words := range want {
			rig.Check(t, strings.Contains(r.err, words), "%s: %s\nwant %s", line, r.err, words)
		}
	}
	run("list").want(t, 0)
	run("export", "slurm", "bob@build1").want(t, 0)
	r := run("ask", "bob@build1", "Hello.")
	rig.Check(t, strings.Contains(r.err, "this begins the conversation bob, without a terminal; to ask the agent bob: nbs-worker --host build1 ask @bob TEXT\n"), "%+v", r)
	r = run("ask", "other@build1", "Hello.")
	rig.Check(t, !strings.Contains(r.err, "to ask the agent"), "%+v", r)
}
