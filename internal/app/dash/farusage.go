package dash

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"nbs-worker/internal/app/wire"
)

// farUsage is what the agents of a host use of it.
type farUsage struct {
	mu    sync.Mutex
	at    time.Time // of the last measurement
	cpu   map[Who]float64
	usage map[Who]Usage
	due   chan struct{}
}

// want asks for a measurement, unless the last one is new.
func (u *farUsage) want(now time.Time) {
	const often = 30 * time.Second // it is a command there, which looks at all agents
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Sub(u.at) < often {
		return
	}
	select {
	case u.due <- struct{}{}:
	default:
	}
}

// of returns what an agent uses.
func (u *farUsage) of(who Who) (Usage, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	usage, is := u.usage[who]
	return usage, is
}

// take takes what list --usage prints.
func (u *farUsage) take(host string, text []byte, at time.Time) {
	var all []wire.Agent
	if json.Unmarshal(text, &all) != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	cpu, usage := map[Who]float64{}, map[Who]Usage{}
	for i := range all {
		a := &all[i]
		if a.Usage == nil {
			continue
		}
		who := Who{Project: a.Project, Handle: a.Handle, Host: host}
		one := Usage{Memory: a.Usage.RSS, CPU: -1}
		if then, has := u.cpu[who]; has && a.Usage.CPUSeconds >= then { // otherwise it was restarted
			one.CPU = 100 * (a.Usage.CPUSeconds - then) / at.Sub(u.at).Seconds()
		}
		cpu[who], usage[who] = a.Usage.CPUSeconds, one
	}
	u.at, u.cpu, u.usage = at, cpu, usage
}

// measure measures what the agents use when the screen shows it, while the host answers.
func (f *feed) measure(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.usage.due:
			if text, err := f.ask(ctx, f.list("--usage")...); err == nil {
				f.usage.take(f.Name, text, time.Now())
				f.tell()
			}
		}
	}
}
