package slurm

import (
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 3*time.Minute)) }

// A job begins with the environment of a login on a machine of its own, and a lost node loses it.
func TestCluster(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := Start(t, home, 20*time.Second, "n1", "n2")
	said := home + "/said"
	c.write("job", "#!/bin/sh\n#SBATCH --export=NONE --requeue --open-mode=append\nhostname >>"+said+"\necho $HOME $SLURM_RESTART_COUNT >>"+said+"\nexec sleep 1000\n")
	job := c.Run("sbatch", "--parsable", "-o", home+"/out", "-w", "n1", c.file("job"))
	lines := func() []string {
		text, _ := os.ReadFile(said)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	rig.Eventually(t, "the job runs", func() bool { return len(lines()) == 2 })
	rig.Same(t, "the job", []string{"n1", home}, lines())
	c.Save(job)
	c.KillController()
	c.StartController()
	rig.Equal(t, c.Run("squeue", "-h", "-j", job, "-o", "%T"), "RUNNING", "after a restart of the controller")
	c.Lose("n1")
	rig.Eventually(t, "it waits again", func() bool { return c.Run("squeue", "-h", "-j", job, "-o", "%T") == "PENDING" })
}
