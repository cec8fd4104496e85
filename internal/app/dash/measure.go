package dash

import (
	"time"

	"nbs-worker/internal/platform/machine"
)

// measured is what the agents' processes had used at a time.
type measured struct {
	at  time.Time
	cpu map[Who]float64 // seconds
}

// Measure implements [Source].
func (t *Team) Measure() map[Who]Usage {
	var here *machine.Machine
	var agents []Who
	var pids []int
	t.taking.Lock()
	for _, p := range t.projects {
		here = p.inspector.Project.Machine
		for handle, row := range p.last {
			if row.Status.SamePID {
				agents, pids = append(agents, Who{Project: p.path(), Handle: handle}), append(pids, row.Record.Process.PID)
			}
		}
	}
	t.taking.Unlock()
	if len(pids) == 0 {
		return nil
	}
	used := here.UsagesOf(pids)
	before, now := t.measured, measured{time.Now(), map[Who]float64{}}
	all := map[Who]Usage{}
	for i, who := range agents {
		now.cpu[who] = used[i].CPUSeconds
		one := Usage{Memory: used[i].RSS, CPU: -1}
		if then, has := before.cpu[who]; has && used[i].CPUSeconds >= then { // otherwise it was restarted
			one.CPU = 100 * (used[i].CPUSeconds - then) / now.at.Sub(before.at).Seconds()
		}
		all[who] = one
	}
	t.measured = now
	return all
}
