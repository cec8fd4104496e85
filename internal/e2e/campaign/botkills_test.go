package campaign

import (
	"os"
	"path/filepath"
	"time"

	"nbs-worker/internal/sim/rig"
)

// kill kills until no kill is left. A moment is a time, or the n-th change of a file. Most kills come when a server has
// begun to serve, and the others before. Every fourth time a message of the bot's is awaited first: on a machine that is
// slow, too, the campaign is to get somewhere.
func (p *botParachute) kill() {
	for awaited, round := 1, 1; p.left > 0; round++ {
		if round%25 == 0 {
			p.Logf("%d kills are left", p.left)
		}
		if round%4 == 0 {
			p.Must(p.bot.AwaitCalls(rig.Patient(p), "sendMessage", p.bot.Calls("sendMessage")+1))
		}
		if p.rng.IntN(5) > 0 {
			p.Must(p.bot.AwaitCalls(rig.Patient(p), "getMe", awaited))
		}
		victims := [][]string{{"serve"}, {"serve"}, {"claude"}, {"serve", "claude"}}[p.rng.IntN(4)]
		step, share := 0, p.rng.Float64()
		if p.rng.IntN(3) > 0 {
			step = 1 + p.rng.IntN(60)
		}
		p.await(step, time.Duration(share*3*float64(p.usual)))
		for _, victim := range victims {
			calls := p.bot.Calls("getMe")
			if v := p.victim(victim); v != nil && v.Kill() == nil {
				p.counts(victim)
				p.left--
				if victim == "serve" {
					awaited = calls + 1
				}
			}
		}
	}
}

// await waits for a number of changes, for at most four turns; without one, for a time.
func (p *botParachute) await(step int, pause time.Duration) {
	var watched []string
	if step > 0 {
		pause = 4 * p.usual
		watched = []string{
			p.InNbs("deliveries"), p.InNbs("conversations", "*"), p.InNbs("conversations", "*", "*"), p.TurnFolder(), filepath.Join(p.World.ConfigDir, "projects", "*"),
		}
	}
	seen := watchChanges(p, watched...)
	defer seen.close()
	seen.await(step, pause)
}

// victim finds a process to kill; nil when none is there.
func (p *botParachute) victim(name string) *os.Process {
	if name == "serve" {
		if server := p.server.Load(); server != nil {
			return server.Process
		}
		return nil
	}
	for _, w := range p.Processes() {
		if w.AnswersTurns() {
			return p.hold(w.PID)
		}
	}
	return nil
}
