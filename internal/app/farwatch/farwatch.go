// Package farwatch decides what a person is told of the agents at hosts: what an agent needs, and that a host does not
// answer. Each thing is told once, until it changes. What is not known of a host that does not answer is not over.
package farwatch

import (
	"maps"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/app/dash"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/recovery/watch"
)

// Grace is how long a host may not answer before that is told: a laptop that wakes up connects again.
const Grace = time.Minute

// A host that refuses a login, or that something else is wrong with which does not pass, is asked again in an hour: asking
// often would be taken for an attack.
const again = time.Hour

// stuck is what is said of such a host.
const stuck = " (asked again in an hour, or when hosts.yaml changes, or config, id_* or known_hosts in ~/.ssh)"

// Known is what was told. It outlasts a watch.
type Known struct {
	watch.State
	Lost  map[string]*Loss `json:"lost,omitempty"`  // by host
	Needs map[string]Need  `json:"needs,omitempty"` // by agent and host

	asked time.Time // when the hosts that are stuck were asked; zero: none is
}

// Only forgets all hosts but these.
func (k *Known) Only(hosts []string) {
	maps.DeleteFunc(k.Lost, func(host string, _ *Loss) bool { return !slices.Contains(hosts, host) })
	maps.DeleteFunc(k.Needs, func(_ string, need Need) bool { return !slices.Contains(hosts, need.Host) })
}

// AsksAgain reports whether it is time to ask the hosts that are stuck, and notes it.
func (k *Known) AsksAgain(now time.Time) bool {
	if k.asked.IsZero() || now.Sub(k.asked) < again {
		return false
	}
	k.asked = now
	return true
}

// Loss is a host that does not answer.
type Loss struct {
	Since time.Time `json:"since"`
	Told  bool      `json:"told"`
}

// Need is what an agent needs, as it was told.
type Need struct {
	Host   string           `json:"host"`
	Reason attention.Reason `json:"reason"`
	Since  time.Time        `json:"since,omitzero"`
}

// Learn returns what is to be told of a sight of all hosts.
func (k *Known) Learn(sight *dash.Sight, now time.Time) (news []watch.Notice) {
	k.noteStuck(sight, now)
	answers := map[string]bool{}
	for _, place := range sight.Places {
		answers[place.Host] = !place.Coming && place.Trouble == ""
		if place.Coming {
			continue
		}
		if notice := k.learnPlace(place, now); notice != nil {
			news = append(news, *notice)
		}
	}
	present := map[string]bool{}
	for i := range sight.Rows {
		row := &sight.Rows[i]
		if !answers[row.Host] {
			continue
		}
		name := string(row.Handle) + "@" + row.Host + " " + row.Project
		present[name] = row.Need != nil
		if row.Need != nil && k.isNew(name, row) && !row.Need.Seen {
			news = append(news, watch.Notice{
				Kind: watch.Kind(row.Need.Reason), At: now.UTC().Truncate(time.Second), Handle: row.Handle, Host: row.Host, Since: row.Need.Since.UTC(), Detail: row.What,
			})
		}
	}
	for name, need := range k.Needs {
		if answers[need.Host] && !present[name] {
			delete(k.Needs, name)
		}
	}
	return news
}

// noteStuck notes since when a host is stuck.
func (k *Known) noteStuck(sight *dash.Sight, now time.Time) {
	if !slices.ContainsFunc(sight.Places, func(p dash.Place) bool { return strings.HasSuffix(p.Trouble, dash.ByHand) }) {
		k.asked = time.Time{}
	} else if k.asked.IsZero() {
		k.asked = now
	}
}

// learnPlace returns what is to be told of a host; nil: nothing.
func (k *Known) learnPlace(place dash.Place, now time.Time) *watch.Notice {
	loss := k.Lost[place.Host]
	notice := watch.Notice{At: now.UTC().Truncate(time.Second), Host: place.Host, Detail: strings.Replace(place.Trouble, dash.ByHand, stuck, 1)}
	switch {
	case place.Trouble == "" && loss == nil:
		return nil
	case place.Trouble != "" && !strings.HasPrefix(place.Trouble, dash.Unreachable): // it answers, and has nothing to show
		return nil
	case place.Trouble == "":
		delete(k.Lost, place.Host)
		if !loss.Told {
			return nil
		}
		notice.Kind, notice.Since = watch.Reachable, loss.Since.UTC()
		return &notice
	case loss == nil:
		loss = &Loss{Since: now}
		if k.Lost == nil {
			k.Lost = map[string]*Loss{}
		}
		k.Lost[place.Host] = loss
	}
	if loss.Told || now.Sub(loss.Since) < Grace {
		return nil
	}
	loss.Told = true
	notice.Kind, notice.Since = watch.Unreachable, loss.Since.UTC()
	return &notice
}

// isNew reports whether a need is another one than was told, and notes it. The beginning of a need is computed from an age:
// it differs a little from look to look.
func (k *Known) isNew(name string, row *dash.Row) bool {
	const about = 5 * time.Second
	told, is := k.Needs[name]
	since := row.Need.Since
	if is && told.Reason == row.Need.Reason && (since.IsZero() || told.Since.IsZero() || since.Sub(told.Since).Abs() < about) {
		return false
	}
	if k.Needs == nil {
		k.Needs = map[string]Need{}
	}
	k.Needs[name] = Need{Host: row.Host, Reason: row.Need.Reason, Since: since}
	return true
}

// Due returns when something is to be told without a change; zero: never.
func (k *Known) Due() (first time.Time) {
	if !k.asked.IsZero() {
		first = k.asked.Add(again)
	}
	for _, loss := range k.Lost {
		if at := loss.Since.Add(Grace); !loss.Told && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
