package slurm

import (
	"fmt"
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

// nodesFrom waits until a job runs, and returns its node and the other one.
func (c *cluster) nodesFrom(job string) (its, other string) {
	c.Helper()
	c.waitQueue(job, "RUNNING")
	if strings.Contains(c.queue(job), two) {
		return two, one
	}
	return one, two
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

// attachTo goes to the terminal of an agent from where only Slurm reaches it.
func (c *cluster) attachTo(handle, shows string) {
	c.Helper()
	cmd := exec.Command(c.Worker, "attach", handle)
	cmd.Dir, cmd.Env = c.Dir, slices.Concat(c.Env, []string{"TERM=xterm"})
	there := c.Console(cmd)
	there.MustShow(shows)
	there.Types("\x02d") // which detaches
	<-there.Done
	c.Must(cmd.Wait())
}

// row is what list says of an agent.
type row struct {
	Handle, State, Cause, Desired string
	SessionID                     string `json:"session_id"`
	Job                           jobRow
}

// jobRow is what list says of the job of an agent.
type jobRow struct{ ID, State, Node, Reason string }

// rows lists the agents from outside of all jobs.
func (c *cluster) rows() (rows []row) {
	c.Helper()
	c.Decode(&rows, "list", "--json")
	return rows
}

// row lists the agents from outside of all jobs, and returns the row of one.
func (c *cluster) row(handle string) row {
	c.Helper()
	for _, r := range c.rows() {
		if r.Handle == handle {
			return r
		}
	}
	c.Fatalf("%s is not in the list", handle)
	return row{}
}

// waitRow waits until the list says of an agent what is waited for.
func (c *cluster) waitRow(handle, what string, is func(row) bool) row {
	c.Helper()
	var last row
	c.WaitFor(handle+" "+what, func() (bool, string) {
		last = c.row(handle)
		return is(last), fmt.Sprintf("%+v", last)
	})
	return last
}

// neverTwice looks until the end of the test whether a conversation has more than one claude, on whatever machine.
func (c *cluster) neverTwice(agents map[string]e2e.Session) {
	c.Helper()
	ended, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		const often = 100 * time.Millisecond
		for tick := time.NewTicker(often); ; {
			for handle, s := range agents {
				if pids := e2e.ClaudesOn(s.SessionID); len(pids) > 1 {
					c.Errorf("%s runs twice: %v", handle, pids)
				}
			}
			select {
			case <-ended:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	c.Cleanup(func() { close(ended); <-looked })
}
