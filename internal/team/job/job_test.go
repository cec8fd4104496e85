package job

import (
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(fake.OnEach(m))) }

const itsJob = "slurm/rig/nbs-a"

// newJob has alpha, which ran in a job on the node n1, in a project of a machine of that name or of another.
func newJob(t *testing.T, host string, change func(*agent.Record)) (j Job, record string) {
	t.Helper()
	dir := rig.MemoryDir(t)
	opened, err := store.Create(dir)
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(dir + "/state")))
	unlock, err := opened.LockVerb("alpha", "spawn", time.Now()) // which makes the folders
	rig.Must(t, err)
	unlock()
	table := fake.New()
	r := agent.Record{
		Spec: agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: dir, ConfigDir: dir + "/claude"}, Desired: agent.DesiredRunning,
		Process: &agent.Process{Identity: table.Add(7, fake.Process{Args: []string{"claude"}}), Invocation: agent.NewInvocation(), Job: itsJob}, PID: 7,
	}
	if host != "" {
		r.Process.Host, r.Process.BootID = host, "another"
	}
	change(&r)
	rig.Must(t, opened.Insert(t.Context(), r))
	project := &observe.Project{Machine: table.Machine(), Store: opened, Now: time.Now, Began: time.Now()}
	return Job{Supervisor: supervisor.New(project, nil), Name: itsJob}, dir + "/.nbs/sessions/alpha.json"
}

func asItIs(*agent.Record) {}

func exited(e agent.Exit) func(*agent.Record) {
	return func(r *agent.Record) {
		e.Invocation, e.At = r.Process.Invocation, time.Now().UTC().Truncate(time.Second)
		r.AddExit(e)
	}
}

// A job ends as claude did. Only a launcher that was killed, which records nothing, has the agent resumed.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		change func(*agent.Record)
		code   int
		killed bool
		err    bool
	}{
		"claude ended":            {exited(agent.Exit{Code: 3, Cause: agent.Exited}), 3, false, false},
		"claude was killed":       {exited(agent.Exit{Code: -1, Signal: "killed", Cause: agent.Crashed}), 1, false, false},
		"it could not be started": {exited(agent.Exit{Code: -1, Error: "no claude"}), 0, false, true},
		"its launcher was killed": {asItIs, 0, true, false},
		"it was stopped":          {func(r *agent.Record) { r.Desired = agent.DesiredStopped }, 0, false, false},
		"it was never started":    {func(r *agent.Record) { r.Process, r.PID = nil, 0 }, 0, false, false},
	} {
		j, _ := newJob(t, "", c.change)
		code, killed, err := j.outcome("alpha")
		rig.Check(t, code == c.code && killed == c.killed && (err != nil) == c.err, "%s: %d, %t, %v", what, code, killed, err)
	}
	j, _ := newJob(t, "", asItIs)
	code, killed, err := j.outcome("beta")
	rig.Check(t, code == 0 && !killed && err == nil, "one that was dismissed: %d, %t, %v", code, killed, err)
}

// Only a start of this very job on another machine is taken for ended: the scheduler runs one job of a name at a time.
func TestEarlierStartOfTheJob(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		host  string
		job   string
		ended bool
	}{
		"of this job, elsewhere":    {"n1", itsJob, true},
		"of this job, here":         {"", itsJob, false},
		"of another job, elsewhere": {"n1", "slurm/rig/nbs-b", false},
		"of no job, elsewhere":      {"n1", "", false},
	} {
		j, _ := newJob(t, c.host, func(r *agent.Record) { r.Process.Job = c.job })
		rig.Must(t, j.noteEnded(t.Context(), "alpha"))
		r, err := j.Supervisor.Project.Store.Load("alpha")
		rig.Must(t, err)
		rig.Equal(t, r.ExitOf(r.Process.Invocation) != nil, c.ended, "%s has ended", what)
	}
	j, path := newJob(t, "n1", func(r *agent.Record) { r.Process.Job = "slurm/rig/nbs-b" })
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(path, []byte(strings.Replace(string(text), "nbs-b", "nbs-a", 1)), 0o600))
	rig.Equal(t, fail.KindOf(j.noteEnded(t.Context(), "alpha")), fail.Held, "a forged record")
}
