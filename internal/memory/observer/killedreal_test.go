package observer

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/memory/db"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

// realSite is a site whose agents and observers are the real Claude Code, and whose worker is nbs-worker itself.
type realSite struct {
	*real

	site *site
	apis []*api.Server // one for each worker: what the claude of a killed one still asks is not the next one's
}

// thinks is how long the API takes to answer an observer.
const thinks = 150 * time.Millisecond

func (r *real) site(turns int) *site {
	r.Helper()
	k := &realSite{real: r}
	k.site = &site{
		stage: r.stage, turns: turns, asked: k.asked,
		work: func() *exec.Cmd {
			server, err := api.Start(api.Options{})
			rig.Must(r.T, err)
			r.Cleanup(func() { _ = server.Close() })
			k.apis = append(k.apis, server)
			return k.program([]string{"ANTHROPIC_BASE_URL=" + server.URL()}, "memory", "work", "--once")
		},
	}
	said := map[agent.Handle]string{}
	for _, handle := range []agent.Handle{"alpha", "beta"} {
		a := r.agent(handle)
		k.site.agents = append(k.site.agents, a)
		var texts []string
		for i := range turns / 2 {
			texts = append(texts, fmt.Sprintf("decision: work %d of %s\n[[observer delay %s]]", i+1, handle, thinks))
		}
		r.says(&a, a.SessionID, texts...)
		said[handle] = k.read(&a)
	}
	moments := k.moments()
	k.site.moment = func(random *rand.Rand, ended <-chan struct{}) {
		moments[random.IntN(len(moments))].await(random, ended)
	}
	k.site.rest = func() {
		out, err := k.program(nil, "memory", "check").CombinedOutput()
		rig.Check(r.T, err == nil, "memory check: %v\n%s", err, out)
		rig.Equal(r.T, r.announced(), 0, "announcements that are left")
		k.mustBeAlone()
		for i := range k.site.agents {
			a := &k.site.agents[i]
			rig.Equal(r.T, k.read(a), said[a.Handle], "conversation of %s", a.Handle)
			k.mustHaveWatched(a)
		}
		k.mustNotMix()
	}
	return k.site
}

// program is nbs-worker in the site, with more variables.
func (k *realSite) program(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(rig.Worker(k), args...)
	cmd.Dir = k.world.Project
	cmd.Env = slices.Concat(k.Project.Env, []string{trust.HomeVariable + "=" + string(k.Project.Store.Home()), trust.RuntimeVariable + "=" + k.Project.Store.Runtime()}, env)
	return cmd
}

// moment is when a worker is killed: within some time after all of these have changed, one after the other.
type moment struct {
	asked  func() string
	after  []func() string
	within time.Duration
}

// moments are around each step of a turn: claude is started, its id captured; the API is asked; what that has cost is
// written, then what was observed.
func (k *realSite) moments() []moment {
	asked := func() string { all, _ := k.asked(); return strconv.Itoa(all) }
	after := func(within time.Duration, all ...func() string) moment { return moment{asked, all, within} }
	return []moment{
		after(50 * time.Millisecond),
		after(time.Second, k.site.begun),
		after(50*time.Millisecond, k.site.begun, k.written),
		after(thinks, asked),
		after(50*time.Millisecond, asked, k.written),
		after(10*time.Millisecond, asked, k.written, k.written),
		after(time.Second, asked, k.written, k.written),
	}
}

// await waits for the moment in one of the first turns of a worker, or until that has ended.
func (m *moment) await(random *rand.Rand, ended <-chan struct{}) {
	for range max(0, random.IntN(4)-1) {
		untilChanged(m.asked, ended)
	}
	for _, look := range m.after {
		untilChanged(look, ended)
	}
	within(random, m.within, ended)
}

// untilChanged waits until something has changed, or the worker has ended.
func untilChanged(look func() string, ended <-chan struct{}) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for before := look(); look() == before; {
		select {
		case <-tick.C:
		case <-ended:
			return
		}
	}
}

// asked is how many turns the claudes of the last worker have asked the API about, and how many of them it has answered.
func (k *realSite) asked() (all, answered int) {
	if len(k.apis) == 0 {
		return 0, 0
	}
	for _, request := range k.apis[len(k.apis)-1].Requests() {
		if strings.Contains(request.Last(), "<transcript ") {
			all++
			if time.Since(request.Time) > thinks {
				answered++
			}
		}
	}
	return all, answered
}

// written tells one state of the database from another.
func (k *realSite) written() string {
	info, err := os.Stat(k.Project.Store.MemoryFile() + "-wal")
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// read reads the conversation of an agent.
func (k *realSite) read(a *agent.Record) string {
	k.Helper()
	return storetest.Read(k.T, k.file(a, a.SessionID).Path)
}

func (k *realSite) file(a *agent.Record, id agent.SessionID) transcript.File {
	k.Helper()
	file, found, err := k.Worker.transcript(target{record: *a, id: id})
	rig.Check(k.T, err == nil && found, "the transcript of %s: found %t, %v", id, found, err)
	return file
}

// mustBeAlone waits until the claudes of workers that were killed have ended.
func (k *realSite) mustBeAlone() {
	k.Helper()
	for _, file := range storetest.Names(k.T, filepath.Join(k.Project.Store.Runtime(), "turns")) {
		invocation, _, _ := strings.Cut(file, ".")
		rig.Eventually(k.T, "the claude of a worker that was killed has ended", func() bool {
			there, err := local.New().Carrying(agent.TurnVariable, invocation)
			return err == nil && len(there) == 0
		})
	}
}

var shownAs = regexp.MustCompile(`Turn (\d+) of the agent (\w+)\. It is shown as data`)

// mustBeOf checks that turns of one agent were shown, in their order and none twice, and returns the last.
func (k *realSite) mustBeOf(handle agent.Handle, what, text string) (last int) {
	k.Helper()
	for _, m := range shownAs.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		rig.Check(k.T, err == nil && n > last && m[2] == string(handle), "%s, which observes %s, is shown %q after turn %d", what, handle, m[0], last)
		last = n
	}
	rig.Check(k.T, last > 0, "%s, which observes %s, is shown no turn: %.2000q", what, handle, text)
	return last
}

// mustNotMix checks what observers have asked: each in a conversation of its own, about one agent.
func (k *realSite) mustNotMix() {
	k.Helper()
	of := map[string]agent.Handle{}
	for _, a := range k.site.agents {
		of[string(a.SessionID)] = "an observer in the conversation of an agent"
	}
	for _, server := range k.apis {
		for _, request := range server.Requests() {
			body := string(request.Body)
			if about := shownAs.FindStringSubmatch(body); about != nil {
				of[request.SessionID] = cmp.Or(of[request.SessionID], agent.Handle(about[2]))
			}
			if strings.Contains(body, SystemPrompt[:40]) {
				k.mustBeOf(of[request.SessionID], request.SessionID, body)
			}
		}
	}
}

// mustHaveWatched checks the conversation of an agent's last observer: turns of this agent were said in it, and nothing
// else, to the end.
func (k *realSite) mustHaveWatched(a *agent.Record) {
	k.Helper()
	kept, err := db.Open(k.Context(), database(k.Project.Store.Project()))
	rig.Must(k.T, err)
	defer kept.Close()
	_, by := k.site.observed(kept, a)
	var told []string
	rig.Must(k.T, k.file(a, by).EachRecord(func(_ string, said []transcript.Message, _ bool) {
		for _, m := range said {
			if m.Speaker == transcript.You {
				told = append(told, m.Text)
			}
		}
	}))
	shown := strings.Join(told, "\n")
	rig.Equal(k.T, k.mustBeOf(a.Handle, string(by), shown), k.site.turns/len(k.site.agents), "the last turn that was shown in %s", by)
	rig.Equal(k.T, len(told), len(shownAs.FindAllString(shown, -1)), "texts in %s that are turns: %q", by, told)
}
