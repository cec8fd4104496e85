package db

import (
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// remembered is a database with what two agents did.
func remembered(t testing.TB) *Database {
	t.Helper()
	d := watched(t)
	observe(t, d, "bob", other, newWatcher)
	keep(t, d, alice, 1, "a1",
		memory.Observation{MemoryID: watcher, Type: memory.Decision, Title: "Use SQLite for the memory", Narrative: "Because of its index of words.", At: minute(1)},
		memory.Observation{MemoryID: watcher, Type: memory.Fix, Title: "Deployments time out", Narrative: "The café's proxy was slow.", Facts: []string{"nginx: proxy_read_timeout 60s"}, Files: []string{"deploy/nginx.conf"}, At: minute(2)})
	keep(t, d, other, 1, "b1",
		memory.Observation{MemoryID: newWatcher, Type: memory.OpenEnd, Title: "Look at the index again", Narrative: "It is slow, and SQLite is not the cause.", At: minute(3)})
	return d
}

func TestSearchFindsTheWords(t *testing.T) {
	t.Parallel()
	d := remembered(t)
	for text, want := range map[string]string{
		"sqlite":             "Use SQLite for the memory|Look at the index again", // a title says more
		"sqlite index":       "Use SQLite for the memory|Look at the index again",
		"deployed":           "Deployments time out", // by the stem
		"cafe":               "Deployments time out", // without the accent
		"deploy/nginx.conf":  "Deployments time out", // by a file
		"proxy_read_timeout": "Deployments time out", // by a fact
		"nginx -- conf":      "Deployments time out",
		"slow -sqlite":       "Look at the index again", // no operators
		"index OR nginx":     "",
		`"`:                  "bad",
		`slow "`:             "Look at the index again|Deployments time out",
		"title:sqlite*":      "",
		"NEAR(a b)":          "",
		"zebra":              "",
		" \t ":               "bad",
		"--":                 "bad",
	} {
		all, err := d.Search(t.Context(), memory.Query{Text: text})
		if want == "bad" {
			storetest.WantKind(t, text, err, fail.BadInput)
			continue
		}
		rig.Must(t, err)
		rig.Equal(t, strings.Join(titlesOf(all), "|"), want, "search %q", text)
	}
}

func TestSearchAndLatestAreNarrowed(t *testing.T) {
	t.Parallel()
	d := remembered(t)
	for what, c := range map[string]struct {
		q      memory.Query
		search string
		latest string
	}{
		"of an agent":    {memory.Query{Text: "slow", Handle: "Bob"}, "Look at the index again", "Look at the index again"},
		"of nobody":      {memory.Query{Text: "slow", Handle: "carol"}, "", ""},
		"since a moment": {memory.Query{Text: "index", Since: minute(2)}, "Look at the index again", "Look at the index again"},
		"at most one":    {memory.Query{Text: "sqlite", Limit: 1}, "Use SQLite for the memory", "Look at the index again"},
	} {
		found, err := d.Search(t.Context(), c.q)
		rig.Must(t, err)
		rig.Equal(t, strings.Join(titlesOf(found), "|"), c.search, "%s: search", what)
		rig.Equal(t, strings.Join(titles(t, d, c.q), "|"), c.latest, "%s: latest", what)
	}
	rig.Equal(t, strings.Join(titles(t, d, memory.Query{}), "|"), "Look at the index again|Deployments time out|Use SQLite for the memory", "all, newest first")
}

func TestTitleSaysMoreThanTheRest(t *testing.T) {
	t.Parallel()
	d := watched(t)
	keep(t, d, alice, 1, "r",
		memory.Observation{MemoryID: watcher, Type: memory.Fix, Title: "The gearbox was exchanged", Narrative: "Because it was worn."},
		memory.Observation{MemoryID: watcher, Type: memory.Fix, Title: "The car", Narrative: "A gearbox and a gearbox."})
	found, err := d.Search(t.Context(), memory.Query{Text: "gearbox"})
	rig.Must(t, err)
	rig.Equal(t, strings.Join(titlesOf(found), "|"), "The gearbox was exchanged|The car", "search")
}

// Of words that very many have, the newest are ranked; where those are of others, all are.
func TestSearchOfWordsThatAllHave(t *testing.T) {
	t.Parallel()
	d := remembered(t)
	d.mostRanked = 1
	for what, c := range map[string]struct {
		q    memory.Query
		want string
	}{
		"the newest is enough": {memory.Query{Text: "slow", Limit: 1}, "Look at the index again"},
		"it is of another":     {memory.Query{Text: "slow", Handle: "alice", Limit: 1}, "Deployments time out"},
		"more are asked for":   {memory.Query{Text: "slow"}, "Look at the index again|Deployments time out"},
	} {
		found, err := d.Search(t.Context(), c.q)
		rig.Must(t, err)
		rig.Equal(t, strings.Join(titlesOf(found), "|"), c.want, "%s: search", what)
	}
}

func TestGetTellsAllThatIsKept(t *testing.T) {
	t.Parallel()
	d := remembered(t)
	o, err := d.Get(t.Context(), 2)
	rig.Must(t, err)
	rig.Same(t, "observation 2", memory.Observation{
		ID: 2, ContentID: alice, Handle: "alice", MemoryID: watcher, Turn: 1, Type: memory.Fix, Title: "Deployments time out",
		Narrative: "The café's proxy was slow.", Facts: []string{"nginx: proxy_read_timeout 60s"}, Files: []string{"deploy/nginx.conf"}, At: minute(2),
	}, o)
	_, err = d.Get(t.Context(), 99)
	storetest.WantKind(t, "an observation that is not there", err, fail.NotFound)
}

// No secret is kept, whoever has written it.
func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-abcdefghijklmnop"
	d := watched(t)
	o := memory.Observation{MemoryID: watcher, Type: memory.Fix, Title: "key " + secret, Narrative: secret, Facts: []string{secret}, Files: []string{secret}}
	keep(t, d, alice, 1, "r", o)
	added, err := d.Add(t.Context(), "alice", alice, o)
	rig.Check(t, err == nil && added.ID == 1 && added.Title == "key [secret]", "%+v, %v", added, err)
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: other, Handle: "bob", FirstPrompt: "use " + secret}))
	rig.Equal(t, mustObserved(t, d, other).FirstPrompt, "use [secret]", "the first prompt")
	rig.Check(t, !strings.Contains(files(t, d), secret), "the secret is in the files")
}
