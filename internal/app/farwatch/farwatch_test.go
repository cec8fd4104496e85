package farwatch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/dash"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// sight is build1 with its trouble, and agents by what they need: "alice waits 3m".
func sight(trouble string, rows ...string) *dash.Sight {
	s := &dash.Sight{Places: []dash.Place{{Host: "build1", Trouble: trouble}}}
	for _, row := range rows {
		words := strings.Fields(row)
		one := dash.Row{Who: dash.Who{Handle: agent.Handle(words[0]), Host: "build1"}, What: "Bash"}
		if len(words) > 1 {
			ago, _ := time.ParseDuration(words[2])
			one.Need = &attention.Need{Reason: attention.Reason(words[1]), Since: noon.Add(-ago), Seen: len(words) > 3}
		}
		s.Rows = append(s.Rows, one)
	}
	return s
}

// Each thing is told once, also over a cut, a lost host and another watch.
func TestWhatIsTold(t *testing.T) {
	t.Parallel()
	var known Known
	now := noon
	for i, step := range []struct {
		after time.Duration
		sight *dash.Sight
		told  string
	}{
		{0, &dash.Sight{Places: []dash.Place{{Host: "build1", Trouble: "connecting", Coming: true}}}, ""},
		{time.Second, sight("", "alice waits 3m", "bob", "carol done 1m seen"), "waits alice@build1"},
		{time.Second, sight("", "alice waits 179s", "bob done 1s", "carol done 1m seen"), "done bob@build1"},
		{time.Second, sight("unreachable", "alice waits 3m", "bob done 1s"), ""},
		{time.Second, sight("", "alice waits 3m", "bob done 1s", "carol"), ""},
		{time.Second, sight("unreachable"), ""},
		{2 * time.Minute, sight("unreachable"), "unreachable @build1"},
		{time.Hour, sight("unreachable"), ""},
		{time.Second, sight("", "alice waits 3m", "bob down 1s", "carol done 1m"), "reachable @build1, down bob@build1, done carol@build1"},
		{time.Second, sight("", "bob down 1s", "carol done 1m"), ""},
		{time.Second, sight("", "alice waits 3m", "bob down 1s", "carol done 1s"), "waits alice@build1, done carol@build1"},
	} {
		now = now.Add(step.after)
		var told []string
		for _, notice := range known.Learn(step.sight, now) {
			told = append(told, fmt.Sprintf("%s %s@%s", notice.Kind, notice.Handle, notice.Host))
		}
		rig.Equal(t, strings.Join(told, ", "), step.told, "step %d", i)
		text, err := json.Marshal(known)
		rig.Must(t, err)
		known = Known{}
		rig.Must(t, json.Unmarshal(text, &known))
	}
}

// A host without a project, or whose program fails, answers: it is not said to be unreachable, and nothing is due.
func TestAHostThatAnswersWithTrouble(t *testing.T) {
	t.Parallel()
	var known Known
	known.Learn(sight("", "alice waits 3m"), noon)
	for _, after := range []time.Duration{0, Grace, time.Hour} {
		rig.Equal(t, len(known.Learn(sight("no .nbs folder in /srv", "alice"), noon.Add(after))), 0, "things told after %s", after)
		rig.Check(t, known.Due().IsZero(), "something is due after %s", after)
	}
	rig.Equal(t, len(known.Learn(sight("", "alice waits 3m"), noon)), 0, "what is told again")
}

// A host that is lost is due once.
func TestALossIsDueOnce(t *testing.T) {
	t.Parallel()
	var known Known
	known.Learn(sight(dash.Unreachable), noon)
	rig.Equal(t, known.Due(), noon.Add(Grace), "when it is told")
	rig.Equal(t, len(known.Learn(sight(dash.Unreachable), noon.Add(Grace))), 1, "things told")
	rig.Check(t, known.Due().IsZero(), "it is due again")
}

// A host that refuses the login is asked again in an hour, and not in a loop.
func TestAHostThatRefusesIsAskedAgain(t *testing.T) {
	t.Parallel()
	var known Known
	refused := sight(dash.Unreachable + ": it does not let you in" + dash.ByHand)
	rig.Equal(t, len(known.Learn(refused, noon)), 0, "things told at once")
	var told []string
	for _, notice := range known.Learn(refused, noon.Add(Grace)) {
		told = append(told, notice.Detail)
	}
	rig.Equal(t, strings.Join(told, "\n"), "unreachable: it does not let you in (asked again in an hour, or when hosts.yaml changes, or config, id_* or known_hosts in ~/.ssh)", "what is told")
	rig.Check(t, !known.AsksAgain(noon.Add(59*time.Minute)), "it is asked again within the hour")
	rig.Equal(t, known.Due(), noon.Add(time.Hour), "when it is asked again")
	rig.Check(t, known.AsksAgain(noon.Add(time.Hour)), "it is not asked again")
	rig.Check(t, !known.AsksAgain(noon.Add(61*time.Minute)), "it is asked twice")
	known.Learn(sight(""), noon.Add(2*time.Hour))
	rig.Check(t, known.Due().IsZero() && !known.AsksAgain(noon.Add(9*time.Hour)), "a host that answers is asked again")
}
