package compose

import (
	"os"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/teamfile"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

// team is a file in which each line is an agent, and those that it depends on.
func team(lines ...string) *teamfile.File {
	file := &teamfile.File{}
	for _, line := range lines {
		words := strings.Fields(line)
		a := teamfile.Agent{Handle: agent.Handle(words[0])}
		for _, word := range words[1:] {
			if profile, is := strings.CutPrefix(word, "profile="); is {
				a.Profiles = append(a.Profiles, profile)
				continue
			}
			on, condition, _ := strings.Cut(word, "=")
			if condition == "" {
				condition = string(teamfile.Ready)
			}
			a.DependsOn = append(a.DependsOn, teamfile.Dependency{On: agent.Handle(on), Condition: teamfile.Condition(condition)})
		}
		file.Agents = append(file.Agents, a)
	}
	return file
}

var (
	running = Seen{Recorded: true, Running: true}
	ended   = Seen{Recorded: true}
	stopped = Seen{Recorded: true, Stopped: true}
	downed  = Seen{Recorded: true, Stopped: true, Downed: true}
)

func seen(of map[agent.Handle]Seen) func(agent.Handle) Seen {
	return func(handle agent.Handle) Seen { return of[handle] }
}

// words are the steps of a plan: "beta:spawn(alpha)".
func words(steps []Step) []string {
	return agent.Mapped(steps, func(s Step) string {
		needs := agent.Mapped(s.Needs, func(need teamfile.Dependency) string { return string(need.On) })
		word := string(s.Handle) + ":" + string(s.Action)
		if len(needs) > 0 {
			word += "(" + strings.Join(needs, ",") + ")"
		}
		return word
	})
}

func TestPlanUp(t *testing.T) {
	t.Parallel()
	three := []string{"gamma beta", "beta alpha", "alpha", "lab profile=tests"}
	for what, c := range map[string]struct {
		lines  []string
		chosen Selection
		seen   map[agent.Handle]Seen
		want   []string
	}{
		"nothing is there":     {three, Selection{}, nil, []string{"alpha:spawn", "beta:spawn(alpha)", "gamma:spawn(beta)"}},
		"one runs":             {three, Selection{}, map[agent.Handle]Seen{"alpha": running}, []string{"alpha:keep", "beta:spawn(alpha)", "gamma:spawn(beta)"}},
		"one is being started": {three, Selection{}, map[agent.Handle]Seen{"alpha": {Recorded: true, Running: true, Starting: true}}, []string{"alpha:resume", "beta:spawn(alpha)", "gamma:spawn(beta)"}},
		"all run":              {three, Selection{}, map[agent.Handle]Seen{"alpha": running, "beta": running, "gamma": running}, []string{"alpha:keep", "beta:keep", "gamma:keep"}},
		"one has ended":        {three, Selection{Names: []string{"beta"}}, map[agent.Handle]Seen{"alpha": running, "beta": ended}, []string{"alpha:keep", "beta:resume(alpha)"}},
		"a person stopped one": {three, Selection{}, map[agent.Handle]Seen{"alpha": running, "beta": running, "gamma": stopped}, []string{"alpha:keep", "beta:keep", "gamma:stay"}},
		"and names it":         {three, Selection{Names: []string{"gamma"}}, map[agent.Handle]Seen{"alpha": running, "beta": running, "gamma": stopped}, []string{"alpha:keep", "beta:keep", "gamma:resume(beta)"}},
		"and names another":    {three, Selection{Names: []string{"gamma"}}, map[agent.Handle]Seen{"alpha": stopped}, []string{"alpha:stay", "beta:spawn(alpha)", "gamma:spawn(beta)"}},
		"and names its group":  {three, Selection{Names: []string{"@g"}}, map[agent.Handle]Seen{"alpha": stopped}, []string{"alpha:stay"}},
		"after a down":         {three, Selection{}, map[agent.Handle]Seen{"alpha": downed, "beta": downed, "gamma": downed}, []string{"alpha:resume", "beta:resume(alpha)", "gamma:resume(beta)"}},
		"without dependencies": {three, Selection{Names: []string{"gamma"}, NoDeps: true}, nil, []string{"gamma:spawn"}},
		"with a profile":       {three, Selection{Names: nil, Profiles: []string{"tests"}}, nil, []string{"alpha:spawn", "beta:spawn(alpha)", "gamma:spawn(beta)", "lab:spawn"}},
		"named, of a profile":  {three, Selection{Names: []string{"LAB"}}, nil, []string{"lab:spawn"}},
		"another spelling":     {[]string{"a B", "b"}, Selection{}, nil, []string{"b:spawn", "a:spawn(b)"}},
	} {
		file := team(c.lines...)
		file.Groups = []teamfile.Group{{Name: "g", Members: []agent.Handle{"alpha"}}}
		steps, err := PlanUp(file, c.chosen, seen(c.seen))
		rig.Check(t, err == nil && slices.Equal(words(steps), c.want), "%s: %q, %v; want %q", what, words(steps), err, c.want)
	}
}

func TestPlanDownIsTheOtherWayRound(t *testing.T) {
	t.Parallel()
	file := team("gamma beta alpha", "beta alpha", "alpha", "delta")
	steps, err := PlanDown(file, Selection{}, seen(map[agent.Handle]Seen{"alpha": running, "beta": ended, "gamma": stopped}))
	want := []string{"gamma:stay", "beta:stop(gamma)", "alpha:stop(gamma,beta)"}
	rig.Check(t, err == nil && slices.Equal(words(steps), want), "%q, %v", words(steps), err)
}

func TestPlanRestartIsForWhatRunsOrIsNamed(t *testing.T) {
	t.Parallel()
	file := team("gamma beta", "beta alpha", "alpha")
	now := seen(map[agent.Handle]Seen{"alpha": running, "beta": stopped, "gamma": running})
	for what, c := range map[string]struct {
		names []string
		want  []string
	}{
		"all":       {nil, []string{"alpha:restart", "gamma:restart"}},
		"named":     {[]string{"beta"}, []string{"beta:restart"}},
		"of a pair": {[]string{"gamma", "alpha"}, []string{"alpha:restart", "gamma:restart"}},
	} {
		steps, err := PlanRestart(file, Selection{Names: c.names}, now)
		rig.Check(t, err == nil && slices.Equal(words(steps), c.want), "%s: %q, %v", what, words(steps), err)
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		lines []string
		names []string
		says  string
	}{
		"no such agent":  {[]string{"alpha"}, []string{"alpa"}, `no agent "alpa"`},
		"no such group":  {[]string{"alpha"}, []string{"@all"}, `no group "@all"`},
		"none but these": {[]string{"alpha", "beta"}, []string{"zeta"}, `no agent "zeta"`},
	} {
		for verb, plan := range map[string]func(*teamfile.File, Selection, func(agent.Handle) Seen) ([]Step, error){"up": PlanUp, "down": PlanDown, "restart": PlanRestart} {
			steps, err := plan(team(c.lines...), Selection{Names: c.names}, seen(nil))
			rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), c.says) && len(steps) == 0, "%s, %s: %v", verb, what, err)
		}
	}
}
