package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/sim/slurm"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 10*time.Minute)) }

// cluster is a project on a file system that the nodes share, and the machine from which jobs are submitted.
type cluster struct {
	*e2e.Team

	slurm *slurm.Cluster
}

// The nodes of each cluster.
const one, two = "n1", "n2"

// never is longer than a test: a node of a busy machine does not count as lost.
const never = time.Hour

func newCluster(m *e2e.Team, lostAfter time.Duration) *cluster {
	m.Helper()
	c := &cluster{m, slurm.Start(m.T, m.World.Home, lostAfter, one, two)}
	keys := filepath.Join(m.World.Home, ".config", "nbs-worker", "environment")
	m.Must(os.MkdirAll(filepath.Dir(keys), 0o700))
	variables := append(e2e.Without(m.Env, "PATH"), "TMPDIR="+c.slurm.Local)
	m.Must(os.WriteFile(keys, []byte(strings.Join(variables, "\n")+"\n"), 0o600))
	m.Env = append(m.Env, "PATH="+c.slurm.Bin+":"+m.Variable("PATH"))
	return c
}

// has makes an agent that was told 42, and does not run.
func (c *cluster) has(handle string) e2e.Session {
	c.Helper()
	s := c.Remembers(handle)
	c.OK("stop", handle)
	return s
}

// submit submits the job of an agent, as its user would, and returns the number of the job.
func (c *cluster) submit(handle string, args ...string) (job string) {
	c.Helper()
	script := filepath.Join(c.World.Root, handle+".sh")
	c.Must(os.WriteFile(script, []byte(c.OK("export", "slurm", handle)), 0o600))
	c.slurm.Run("sbatch", append(append([]string{"--test-only"}, args...), script)...)
	return c.slurm.Run("sbatch", append(append([]string{"--parsable"}, args...), script)...)
}

// queue is what squeue says of a job: its state, its node and why it waits.
func (c *cluster) queue(job string) string {
	c.Helper()
	return c.slurm.Run("squeue", "-h", "-j", job, "-t", "all", "-o", "%T %N %r")
}

// waitQueue waits until squeue says of a job what is waited for.
func (c *cluster) waitQueue(job, want string) {
	c.Helper()
	c.WaitFor("job "+job+" is "+want, func() (bool, string) {
		is := c.queue(job)
		text, _ := os.ReadFile(filepath.Join(c.World.Project, "slurm-"+job+".out"))
		return strings.HasPrefix(is, want), is + "\n" + string(text)
	})
}

// at is the team on a node.
func (c *cluster) at(node string) *e2e.Team {
	c.Helper()
	there := *c.Team
	there.Worker = c.slurm.Entrance(node, c.Worker)
	return &there
}

// mustKnow hears the number from an agent that runs on a node, in the conversation that it had before.
func (c *cluster) mustKnow(node, handle string, before e2e.Session) e2e.Session {
	c.Helper()
	there := c.at(node)
	there.WaitState(handle, "idle")
	there.OK("send", handle, "What number?")
	c.WaitFor(handle+" says the number", func() (bool, string) {
		screen := there.Screen(handle)
		return strings.Contains(screen, "● 42"), screen
	})
	now := there.WaitState(handle, "idle")
	c.Check(now.SessionID == before.SessionID, "before %+v\nnow %+v", before, now)
	return now
}

// attachByHint goes to the terminal of an agent as attach says, from where it cannot be seen.
func (c *cluster) attachByHint(handle, shows string) {
	c.Helper()
	r := c.OnTerminal("attach", handle)
	_, hint, found := strings.Cut(r.Stderr, "hint: if its job runs: ")
	c.Check(r.Code == 5 && found, "attach: %v", r)
	line, _, _ := strings.Cut(hint, "\n")
	cmd := exec.Command("sh", "-c", strings.TrimSpace(line))
	cmd.Dir, cmd.Env = c.Dir, slices.Concat(c.Env, []string{"TERM=xterm"})
	there := c.Console(cmd)
	there.MustShow(shows)
	there.Types("\x02d") // which detaches
	<-there.Done
	c.Must(cmd.Wait())
}
