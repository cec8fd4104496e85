package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Verb is the verb that is running when the kill comes.
type Verb string

// The verbs that change an agent's life. Force is a resume that ends a living agent first.
const (
	Spawn   Verb = "spawn"
	Resume  Verb = "resume"
	Force   Verb = "resume --force"
	Stop    Verb = "stop"
	Dismiss Verb = "dismiss"
)

// Verbs are all of them.
var Verbs = []Verb{Spawn, Resume, Force, Stop, Dismiss}

// Victim is a process that is killed.
type Victim string

// The victims.
const (
	TheVerb  Victim = "verb"
	Launcher Victim = "launcher"
	Claude   Victim = "claude"
	Server   Victim = "tmux server"
)

// Before is how the agent that is resumed had ended.
type Before string

// The ways in which it had ended. The caller brings one about before it runs the verb.
const (
	Stopped        Before = "stopped"
	ClaudeKilled   Before = "claude killed"
	LauncherKilled Before = "launcher killed"
	ServerKilled   Before = "tmux server killed"
)

// Moment is when the kill comes: at the Nth step of a name, or, without a name, after a share of the verb's usual
// length.
type Moment struct {
	Step  string
	Nth   int
	Share float64
}

func (m Moment) String() string {
	if m == (Moment{}) {
		return "before its first step"
	}
	if m.Step == "" {
		return fmt.Sprintf("after %.0f%% of its time", 100*m.Share)
	}
	return fmt.Sprintf("at %s %d", m.Step, m.Nth)
}

// Fault is one kill, of one process or of several at once.
type Fault struct {
	Verb    Verb
	Victims []Victim
	Moment  Moment
	Before  Before // of Resume
	// Hasty: the repair does not wait until the agent has come to rest.
	Hasty bool
}

func (f Fault) String() string {
	words := fmt.Sprintf("%s: kill %s %s", f.Verb, f.Who(), f.Moment)
	if f.Before != "" {
		words = fmt.Sprintf("%s (%s)", words, f.Before)
	}
	if f.Hasty {
		words += ", repaired at once"
	}
	return words
}

// Who names the victims.
func (f Fault) Who() string {
	names := make([]string, len(f.Victims))
	for i, v := range f.Victims {
		names[i] = string(v)
	}
	return strings.Join(names, " and ")
}

// Hits reports whether the fault kills this victim.
func (f Fault) Hits(v Victim) bool { return slices.Contains(f.Victims, v) }

// Plan deals faults without end. It goes through all moments of all verbs in a shuffled order, then again with the next
// victims for each: a run that is long enough has been everywhere.
type Plan struct {
	rng    *rand.Rand
	cards  []card
	hand   []int // indexes of cards, still to be dealt in this pass
	passes int

	// Next returns every shares-th fault that is dealt, beginning with number share; dealt counts all of them.
	share, shares, dealt int
}

// card is one moment of one verb.
type card struct {
	verb   Verb
	moment moment
	first  int // victims in the first pass
}

// NewPlan shuffles by the seed; equal seeds deal the same.
func NewPlan(seed uint64) *Plan { return NewShare(seed, 0, 1) }

// NewShare is one of several plans that divide the faults of a seed: together they go everywhere, and no fault is dealt
// to two of them.
func NewShare(seed uint64, share, shares int) *Plan {
	p := &Plan{rng: rand.New(rand.NewPCG(seed, 0)), share: share, shares: shares}
	for _, verb := range Verbs {
		for _, m := range momentsOf(verb) {
			p.cards = append(p.cards, card{verb: verb, moment: m, first: p.rng.IntN(len(always) * len(late))})
		}
	}
	return p
}

// Next deals the next fault.
func (p *Plan) Next() Fault {
	for {
		fault := p.deal()
		p.dealt++
		if (p.dealt-1)%p.shares == p.share {
			return fault
		}
	}
}

func (p *Plan) deal() Fault {
	if len(p.hand) == 0 {
		p.hand = p.rng.Perm(len(p.cards))
		p.passes++
	}
	c := p.cards[p.hand[0]]
	p.hand = p.hand[1:]
	fault := Fault{Verb: c.verb, Victims: c.victims(p.passes), Moment: c.moment.Moment, Hasty: p.rng.IntN(4) == 0}
	if fault.Moment.Step == "" {
		fault.Moment.Share = p.rng.Float64()
	}
	before := []Before{Stopped, ClaudeKilled, LauncherKilled, ServerKilled}[p.rng.IntN(4)]
	if fault.Verb == Resume {
		fault.Before = before
	}
	return fault
}

// always are the victims at most moments; late those at a moment when the agent has already ended.
var (
	always = [][]Victim{
		{TheVerb}, {Launcher}, {Claude}, {Server}, {TheVerb, Claude},
		{TheVerb}, {Launcher}, {Claude}, {TheVerb, Launcher}, {TheVerb, Server},
	}
	late = [][]Victim{{TheVerb}, {TheVerb}, {Server}, {TheVerb, Server}}
)

func (c card) victims(pass int) []Victim {
	choice := always
	if c.moment.late {
		choice = late
	}
	return choice[(c.first+pass)%len(choice)]
}

// Again is a new fault at a step that no kill has hit. Its victim is the verb, whose process is found fastest. At a late
// step the verb may exit before the kill, so there every other try kills the tmux server instead.
func Again(verb Verb, at Moment, try int) Fault {
	fault := Fault{Verb: verb, Victims: []Victim{TheVerb}, Moment: at}
	if verb == Resume {
		fault.Before = Stopped
	}
	isAt := func(m moment) bool { return m.Moment == at && m.late }
	if try%2 == 1 && slices.ContainsFunc(momentsOf(verb), isAt) {
		fault.Victims = []Victim{Server}
	}
	return fault
}
