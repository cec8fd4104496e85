// Package team tests what a user sees of a team file: up, down, diff and restart.
package team

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 10*time.Minute)) }

// crew is a project with the helpers of this package's tests.
type crew struct{ *e2e.Team }

func standIn(t *testing.T, misbehaviour ...string) *crew {
	return &crew{e2e.StandIn(t, misbehaviour...)}
}

// has writes the team file, and a person allows it.
func (c *crew) has(text string) {
	c.Helper()
	c.writes(text)
	c.allows()
}

func (c *crew) writes(text string) {
	c.Helper()
	c.Must(os.WriteFile(filepath.Join(c.World.Project, "team.yaml"), []byte(text), 0o600))
}

func (c *crew) allows() {
	c.Helper()
	console := c.Console(c.Command([]string{"allow", "--team"}))
	console.MustShow("[y/N] ")
	console.Types("y\n")
	err := console.Cmd.Wait()
	<-console.Done
	c.Check(err == nil, "allow --team: %v\n%s", err, console.Seen.String())
}

const three = `version: 1
agents:
  gamma:
    depends_on: [beta]
  beta:
    model: opus
    depends_on: [alpha]
  alpha:
    environment: {GREETING: "${NAME_OF_THE_TEST}"}
    args: [--effort, low]
groups:
  first: [alpha, beta]
`

// step is what up, down and restart say of an agent with --json.
type step struct {
	Handle, Action string
	After          []string
	Changed        []struct{ Field string }
	Started        *struct {
		SessionID string `json:"session_id"`
	}
}

// says runs a verb with --json and returns its steps, as handle:action.
func (c *crew) says(args ...string) (words string) {
	c.Helper()
	var steps []step
	c.Must(json.Unmarshal([]byte(c.OK(append(args, "--json")...)), &steps))
	var all []string
	for _, s := range steps {
		all = append(all, s.Handle+":"+s.Action)
	}
	return strings.Join(all, " ")
}

// differs returns what diff says, as handle:is:field,field.
func (c *crew) differs(code int) string {
	c.Helper()
	r := c.NBS("diff", "--json")
	c.Check(r.Code == code, "diff: %s", r)
	var found []struct {
		Handle, Is     string
		Changed, Drift []struct{ Field string }
	}
	c.Must(json.Unmarshal([]byte(r.Stdout), &found))
	var all []string
	for _, d := range found {
		words := []string{d.Handle, d.Is}
		for _, field := range append(d.Changed, d.Drift...) {
			words = append(words, field.Field)
		}
		all = append(all, strings.Join(words, ":"))
	}
	return strings.Join(all, " ")
}

func (c *crew) is(got, want string) {
	c.Helper()
	c.Check(got == want, "%s\nwant %s", got, want)
}

// A team comes up in order, is changed, restarted, stopped and started again, in the same conversations.
func TestATeamFromItsFile(t *testing.T) {
	c := standIn(t)
	c.Env = append(c.Env, "NAME_OF_THE_TEST=hello")
	c.has(three)
	c.is(c.differs(1), "gamma:missing beta:missing alpha:missing")
	c.is(c.says("up", "--dry-run"), "alpha:spawn beta:spawn gamma:spawn")
	c.is(c.says("up"), "alpha:spawn beta:spawn gamma:spawn")
	c.is(c.differs(0), "gamma:equal beta:equal alpha:equal")
	before := map[string]e2e.Session{}
	for _, handle := range []string{"alpha", "beta", "gamma"} {
		before[handle] = c.WaitState(handle, "idle")
	}
	c.Check(c.Environ(before["alpha"].PID)["GREETING"] == "hello", "the variable is not in alpha's environment")
	c.is(c.says("up"), "alpha:keep beta:keep gamma:keep")
	c.OK("stop", "gamma")
	c.is(c.says("up"), "alpha:keep beta:keep gamma:stay")
	c.is(c.says("up", "gamma", "--no-deps"), "gamma:resume")

	c.writes(strings.Replace(three, "model: opus", "model: sonnet", 1))
	c.is(c.differs(1), "gamma:equal beta:changed:model alpha:equal")
	c.Refused(8, "nbs-worker allow --team", "restart")
	c.Refused(8, "nbs-worker allow --team", "down")
	c.Refused(8, "nbs-worker allow --team", "down", "@first")
	c.is(c.says("down", "gamma"), "gamma:stop")
	c.allows()
	c.is(c.says("up", "gamma", "--no-deps"), "gamma:resume")
	c.is(c.says("restart", "--rolling", "@first"), "alpha:restart beta:restart")
	c.is(c.differs(0), "gamma:equal beta:equal alpha:equal")
	c.is(c.says("down"), "gamma:stop beta:stop alpha:stop")
	c.is(c.says("down"), "gamma:stay beta:stay alpha:stay")
	c.is(c.says("up"), "alpha:resume beta:resume gamma:resume")
	for handle, was := range before {
		now := c.Session(handle)
		c.Check(now.SessionID == was.SessionID && now.PID != was.PID, "%s: %+v; before: %+v", handle, now, was)
	}
	c.Check(c.Session("beta").Model == "sonnet", "%+v", c.Session("beta"))
	c.OK("stop", "@first")
	c.is(c.says("up", "@first"), "alpha:stay beta:stay")
	c.Refused(2, `there is no group "@frist"`, "stop", "@frist")
}

// Who is asked can end up by Ctrl-C or by a signal: then nothing is allowed, and nothing starts.
func TestUpEndsAtItsQuestion(t *testing.T) {
	c := standIn(t)
	c.writes("agents: {alpha: }\n")
	for how, end := range map[string]func(*e2e.Console){
		"SIGTERM": func(up *e2e.Console) { c.Must(up.Cmd.Process.Signal(syscall.SIGTERM)) },
		"SIGINT":  func(up *e2e.Console) { c.Must(up.Cmd.Process.Signal(syscall.SIGINT)) },
		"Ctrl-C":  func(up *e2e.Console) { up.Types("\x03") },
	} {
		up := c.Console(c.Command([]string{"up"}))
		up.MustShow("allow this team? [y/N] ")
		end(up)
		_ = up.Cmd.Wait()
		<-up.Done
		c.Check(up.Cmd.ProcessState.ExitCode() == 130, "%s: it ended by %s\n%s", how, up.Cmd.ProcessState, up.Seen.String())
		c.MustSay(up.Seen.String(), "interrupted; nothing was changed")
	}
	c.Refused(8, "nbs-worker allow --team", "up")
	c.is(c.OK("list"), "")
}

// A file that was not allowed starts nothing, and a wrong one says where.
func TestWhatAFileMayNot(t *testing.T) {
	c := standIn(t)
	c.writes(three)
	c.Refused(8, "nbs-worker allow --team", "up")
	c.writes("version: 1\nagents:\n  alpha: {modle: opus}\n")
	c.Refused(4, "line 3, column 11", "up")
	c.writes("version: 1\nagents:\n  alpha: {depends_on: [beta]}\n  beta: {depends_on: [alpha]}\n")
	c.Refused(4, "alpha -> beta -> alpha", "up", "--dry-run")
	c.is(c.OK("list", "--json"), "[]\n")
}

// restart --rolling stops at the first that does not come back, and the others run on.
func TestARollingRestartStops(t *testing.T) {
	c := standIn(t)
	c.has("version: 1\nagents:\n  alpha: {model: sonnet}\n  beta: {model: sonnet}\n")
	c.OK("up")
	c.has("version: 1\nagents:\n  alpha: {model: opus}\n  beta: {model: opus}\n")
	alpha, beta := c.WaitState("alpha", "idle"), c.WaitState("beta", "idle")
	r := c.NBSWith([]string{"NBS_CLAUDE=/nonexistent/claude"}, "restart", "--rolling")
	c.Check(r.Code != 0 && strings.Contains(r.Stderr, "not restarted, because alpha did not come back"), "%s", r)
	c.MustBeLeftAlone("beta", beta)
	c.MustBeLeftAlone("alpha", alpha) // what would make its start fail is found before it is ended
	c.Check(c.Session("alpha").RunningModel == "sonnet", "%+v", c.Session("alpha"))
	c.is(c.differs(1), "alpha:changed:model beta:changed:model")
	c.is(c.says("restart", "--rolling"), "alpha:restart beta:restart")
	c.is(c.differs(0), "alpha:equal beta:equal")
}

// A team that was made by hand is written down as it is, whatever the environment's usual model is.
func TestATeamMadeByHandIsWrittenDown(t *testing.T) {
	c := standIn(t)
	c.Env = append(c.Env, "NBS_MODEL=haiku", "NBS_PERMISSION_MODE=acceptEdits")
	c.Write(c.World.Project+"/settings.json", `{"alwaysThinkingEnabled": true, "env": {"FROM": "settings"}}`)
	c.Git(c.World.Project, "init", "-q")
	c.Git(c.World.Project, "commit", "-q", "--allow-empty", "-m", "first")
	c.OK("spawn", "alpha", "Begin with: - a\n  b", "--restart", "on-failure", "--env", "WORD=${x} $y", "--", "--effort", "low")
	c.OK("spawn", "beta", "--model", "opus", "--settings", c.World.Project+"/settings.json", "--permission-mode", "plan")
	c.OK("spawn", "gamma", "--worktree", "--trust", "--no-answers")
	r := c.NBSWith([]string{"NBS_MODEL="}, "spawn", "delta")
	c.Check(r.Code == 0, "%s", r)
	for _, handle := range []string{"alpha", "beta", "gamma", "delta"} {
		c.WaitState(handle, "idle")
	}
	c.OK("team", "init")
	c.is(c.differs(0), "alpha:equal beta:equal delta:equal gamma:equal")
	c.is(c.says("up"), "alpha:keep beta:keep delta:keep gamma:keep")
	for _, variable := range []string{"NBS_MODEL=sonnet", "NBS_MODEL="} {
		r := c.NBSWith([]string{variable, "NBS_PERMISSION_MODE="}, "diff")
		c.Check(r.Code == 0, "%s: %s", variable, r)
	}
	was := c.Session("beta")
	c.is(c.says("down"), "gamma:stop delta:stop beta:stop alpha:stop")
	c.is(c.says("up"), "alpha:resume beta:resume delta:resume gamma:resume")
	now := c.Session("beta")
	c.Check(now.SessionID == was.SessionID, "%+v; before: %+v", now, was)
	c.is(c.differs(0), "alpha:equal beta:equal delta:equal gamma:equal")
}
