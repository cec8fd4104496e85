package campaign

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// night is a team of ten, four of them on the real Claude Code, of which much goes wrong under a watch.
type night struct {
	*team
	chance  *rand.Rand
	watcher *e2e.Watcher
	before  map[string]e2e.Session
	limited time.Time         // until when the usage limit of one lasts
	told    map[string]string // what a person is to be told of each, by the end of a fault
	done    []e2e.Deed        // of watches that were ended
}

// selves are agents that their launchers start again: of those it is chance what a watch sees.
var selves = []string{"limit", "self"}

// newNight begins it: one agent is full, one hangs, one asks, one is refused by the API, six are well.
func newNight(t *testing.T, chance *rand.Rand) *night {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.InNbs(), "4m")
	// Each agent has its program; what is wrong with it is so at each of its starts.
	choice := m.Program("claude", fmt.Sprintf(`case $NBS_HANDLE in
full|hangs|login|crash) exec %s "$@" ;;
loop) [ -e %s ] && export NBS_SIM_CLAUDE=die-after=1500ms ;;
asks) [ -e %s ] || export NBS_SIM_CLAUDE=dialog=login ;;
limit) if [ -e %s ]; then . %[4]s; [ $(date +%%s) -ge $until ] || { echo "$words"; exit 1; }; fi ;;
esac
exec %[5]s "$@"`, rig.ClaudeBinary(t, rig.Newest), m.trouble("loop"), m.trouble("asks"), m.trouble("limit"), m.Variable("NBS_CLAUDE")))
	m.Env = append(m.Env, "NBS_CLAUDE="+choice)
	n := &night{team: m, chance: chance, before: map[string]e2e.Session{}}
	for handle, prompt := range map[string]string{
		"full": "[[usage 880000]] Remember 42.", "hangs": "[[delay 10m]] hello", "login": "[[error 403]] hello", "crash": "Remember 42.",
		"loop": "", "asks": "", "limit": "", "self": "", "a": "", "b": "",
	} {
		args := []string{"spawn", handle, "--model", "sonnet", "--no-wait"}
		if prompt != "" {
			args = append(args, "--prompt", prompt)
		}
		if slices.Contains(selves, handle) {
			args = append(args, "--restart", "on-failure")
		}
		m.OK(args...)
	}
	for handle, state := range map[string]string{
		"full": "idle", "hangs": "busy", "login": "failed", "crash": "idle", "loop": "idle", "asks": "waiting", "limit": "idle", "self": "idle", "a": "idle", "b": "idle",
	} {
		n.before[handle] = m.WaitState(handle, state)
	}
	return n
}

// trouble is a file that is there when an agent's trouble has begun, or is over.
func (m *team) trouble(handle string) string { return filepath.Join(m.World.Root, "trouble-"+handle) }

// watch begins a watch that may do and tell in minutes what others spread over a night.
func (n *night) watch() {
	n.Helper()
	dir := n.Folder("watch")
	path, notices := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "notices")
	n.Write(path, fmt.Sprintf("patience: 5s\nevery: 3s\nrepairs: {per-hour: 60, per-agent: 9}\nnotify: {command: [%s], per-hour: 200, on: [waits, down, short, held, repaired, paused]}\n", n.Program("tell", "cat >>"+notices)))
	n.watcher = n.BeginWatchBy(path)
	n.watcher.Notices = notices
}

// deeds are those of all watches.
func (n *night) deeds() []e2e.Deed { return slices.Concat(n.done, n.watcher.Deeds()) }

func (n *night) killAgent(handle string) e2e.Session {
	n.Helper()
	was := n.Session(handle)
	n.Kill(was.RecordedPID, syscall.SIGKILL)
	return was
}

// mustComeBack waits until agents that had fallen are back, and a person knows.
func (n *night) mustComeBack(fallen ...e2e.Session) {
	n.Helper()
	for _, was := range fallen {
		if slices.Contains(selves, was.Handle) {
			n.WaitSession(was.Handle, "is back", func(s e2e.Session) bool { return s.Running && s.RecordedPID != was.RecordedPID })
		} else {
			n.told[was.Handle] += " down repaired"
		}
	}
	n.mustBeTold()
}

// mustBeTold waits until a person was told of each agent what is to be told, and no more. Ten are brought back
// one after another.
func (n *night) mustBeTold() {
	n.Helper()
	told := map[string]string{}
	rig.WaitFor(n, "a person is told", func() (bool, string) {
		for handle := range n.told {
			told[handle] = n.watcher.Told(handle)
		}
		return maps.EqualFunc(n.told, told, func(want, got string) bool { return strings.TrimSpace(want) == got }),
			fmt.Sprintf("told %q\nwant %q\n%s", told, n.told, n.watcher.Out)
	})
}

// standing are the agents that run.
func (n *night) standing() (all []e2e.Session) {
	n.Helper()
	for _, handle := range slices.Sorted(maps.Keys(n.before)) {
		if s := n.Session(handle); s.Running {
			all = append(all, s)
		}
	}
	return all
}

// anyone is one to whom nothing else happens.
func (n *night) anyone() string {
	return []string{"a", "b", "crash", "full"}[n.chance.IntN(4)]
}

func (n *night) crash() { n.mustComeBack(n.killAgent(n.anyone())) }

func (n *night) crashLoop() {
	n.Write(n.trouble("loop"), "")
	n.killAgent("loop")
	n.watcher.WaitDeed("held", "loop", 1)
	delete(n.told, "loop") // how often it fell before is chance
}

func (n *night) usageLimit() {
	until := time.Now().Add(90 * time.Second).Truncate(time.Minute) // claude says it to the minute
	n.limited = until
	words := "You've hit your session limit · resets " + until.UTC().Format("3:04pm (UTC)")
	n.Write(n.trouble("limit"), fmt.Sprintf("until=%d\nwords=%q\n", until.Add(-10*time.Second).Unix(), words))
	n.killAgent("limit")
	n.watcher.WaitDeed("held", "limit", 1)
}

func (n *night) loseServer() {
	fallen := n.standing()
	n.KillServer()
	n.mustComeBack(fallen...)
}

// fillDisk has agents fall while nobody can write that down.
func (n *night) fillDisk() {
	free := n.Fill(0)
	fallen := []e2e.Session{n.killAgent(n.anyone()), n.killAgent("self")}
	n.MustSay(n.watcher.WaitDeed("not repaired", fallen[0].Handle, 1).Detail, "no space left on device")
	free()
	n.mustComeBack(fallen...)
}

// reboot ends all at once, as a power cut does. The watch is a service.
func (n *night) reboot() {
	fallen := n.standing()
	n.watcher.WaitRemembers(n.notices())
	n.done = n.deeds()
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, p := range n.Processes() {
			_ = syscall.Kill(p.PID, signal) // what ends by itself may be gone
		}
	}
	_ = n.watcher.End()
	n.WaitFor("nothing runs", func() (bool, string) { all := n.Processes(); return len(all) == 0, fmt.Sprint(all) })
	n.Worker = rig.WorkerWith(n.T, "-X nbs-worker/internal/platform/machine/local.testOnlyBootID=00000000-0000-4000-8000-000000000000")
	n.watch()
	n.mustComeBack(fallen...)
}

// notices is how many things a person was told.
func (n *night) notices() (all int) {
	for handle := range n.before {
		all += len(strings.Fields(n.watcher.Told(handle)))
	}
	return all
}

// mustKeep checks that an agent is so in the morning, in its conversation.
func (n *night) mustKeep(verdict string, handles ...string) {
	n.Helper()
	for _, handle := range handles {
		n.WaitFor(handle+" is "+verdict, func() (bool, string) {
			all, _ := n.Triage(handle)
			return all[handle].Verdict == verdict, fmt.Sprintf("%+v", all[handle])
		})
		if now := n.Session(handle); now.SessionID != n.before[handle].SessionID {
			n.Errorf("%s is in another conversation: before %+v\nafter %+v", handle, n.before[handle], now)
		}
	}
}

// mustBeExplained checks that the journal says why each start was made, and how often an agent was repaired.
func (n *night) mustBeExplained(handle string) {
	n.Helper()
	repairs, resumes := 0, 0
	for _, detail := range n.Noted(handle, "watch") {
		repairs += strings.Count(detail, ": repairs it, level ")
		resumes += strings.Count(detail, "level 3, resume: begun")
	}
	said := 0
	for _, d := range n.deeds() {
		if d.What == "repaired" && d.Handle == handle {
			said++
		}
	}
	backoffs, starts := len(n.Noted(handle, "backoff")), len(n.Noted(handle, "start"))
	n.Check(said <= repairs && starts-1 <= resumes+backoffs, "the journal of %s does not explain %d repairs, %d starts:\n%s", handle, said, starts, n.OK("events", handle))
}

// A team is left alone. In the morning all that can be well is, what only a person can help is held,
// and the person was told of each thing once. Order and victims are chance; NBS_NIGHT_SEED repeats one night.
func TestNight(t *testing.T) {
	seed, nights := e2e.Number(t, "NBS_NIGHT_SEED", standardSeed), e2e.Number(t, "NBS_NIGHTS", 1)
	for i := range nights {
		t.Run(fmt.Sprint("seed ", seed+i), func(t *testing.T) { playNight(t, rand.New(rand.NewPCG(uint64(seed+i), 0))) })
	}
}

type fault struct {
	name string
	play func()
}

func playNight(t *testing.T, chance *rand.Rand) {
	n := newNight(t, chance)
	n.watch()
	n.told = map[string]string{"asks": "waits", "login": "waits", "full": "short repaired", "hangs": "repaired", "crash": "", "loop": "", "a": "", "b": ""}
	n.mustBeTold()
	n.Write(n.trouble("asks"), "")

	faults := []fault{
		{"a crash", n.crash}, {"a crash loop", n.crashLoop}, {"the server is killed", n.loseServer}, {"the disk is full", n.fillDisk}, {"a reboot", n.reboot},
	}
	n.chance.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	faults = slices.Insert(faults, n.chance.IntN(3), fault{"a usage limit", n.usageLimit}) // early: it lasts for up to 90 s
	begun := time.Now()
	for _, fault := range faults {
		t.Logf("after %s: %s", time.Since(begun).Round(time.Second), fault.name)
		fault.play()
	}
	n.OK("send", "login", "[[error 403]] hello") // who was resumed may be logged in, until its next turn
	n.told["login"] += " waits"
	n.mustBeTold()
	<-time.After(time.Until(n.limited))
	rig.WaitFor(t, "the limit is lifted", func() (bool, string) { s := n.Session("limit"); return s.Running, fmt.Sprintf("%+v", s) })
	n.mustKeep("idle", "full", "hangs", "crash", "asks", "limit", "self", "a", "b")
	n.mustKeep("held", "login", "loop")
	n.mustBeTold()
	n.watcher.Interrupt()
	t.Logf("after %s it is morning: %d deeds, %d notices", time.Since(begun).Round(time.Second), len(n.deeds()), n.notices())

	if asked := strings.TrimSpace(n.OK("send", "crash", "What number?", "--wait-reply")); asked != "42" {
		t.Errorf("crash has forgotten: %s", asked)
	}
	for handle := range n.before {
		n.mustBeExplained(handle)
	}
	for _, handle := range []string{"limit", "loop"} {
		n.Check(strings.Count(n.watcher.Told(handle), "held") == 1, "of %s was told %s:\n%s", handle, n.watcher.Told(handle), n.OK("events", handle))
	}
	falls := 3 // with the full disk, the server and the reboot
	n.Check(strings.Count(n.watcher.Told("self"), "down") <= falls, "of self was told %s", n.watcher.Told("self"))
}
