package db

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
)

// The budgets: with 100,000 observations a search takes less than 50 ms, and what a brief asks for less
// than 100 ms. Run: go test ./internal/memory/db -run '^$' -bench .

const (
	manyObservations = 100_000
	manyAgents       = 20
)

// big is a database of a team that has worked for long. Each text has a word of its own, words that a
// hundredth of the texts has, and words that each has.
func big(b *testing.B) *Database {
	b.Helper()
	d := made(b)
	random := rand.New(rand.NewPCG(1, 2))
	rig.Must(b, d.change(b.Context(), func(tx *sql.Tx) error {
		ids := make([]agent.SessionID, manyAgents)
		for i := range ids {
			content := agent.NewSessionID()
			ids[i] = agent.NewSessionID()
			if err := create(b.Context(), tx, memory.Observed{ContentID: content, Handle: handle(i)}); err != nil {
				return err
			}
			if err := setMemory(b.Context(), tx, content, ids[i], false); err != nil {
				return err
			}
		}
		for n := range manyObservations {
			o := memory.Observation{
				MemoryID: ids[random.IntN(manyAgents)], Turn: n, Type: memory.Types()[n%6], At: minute(n),
				Title:     fmt.Sprintf("The cache of service%d was stale in region%d", random.IntN(100), n),
				Narrative: fmt.Sprintf("It is cleared by worker%d now, because the deployment of package%d needs it before the next release.", random.IntN(100), random.IntN(1000)),
				Facts:     []string{fmt.Sprintf("ttl%d: 60s", random.IntN(100))}, Files: []string{fmt.Sprintf("internal/cache/region%d.go", n%1000)},
			}
			if _, err := insert(b.Context(), tx, o); err != nil {
				return err
			}
		}
		return nil
	}))
	return d
}

func handle(i int) agent.Handle { return agent.Handle(fmt.Sprintf("agent-%d", i)) }

func BenchmarkMemory(b *testing.B) {
	d := big(b)
	week := minute(manyObservations).Add(-7 * 24 * time.Hour)
	for name, ask := range map[string]func() ([]memory.Observation, error){
		"search a rare word": func() ([]memory.Observation, error) { return d.Search(b.Context(), memory.Query{Text: "region77777"}) },
		"search two frequent words": func() ([]memory.Observation, error) {
			return d.Search(b.Context(), memory.Query{Text: "service7 worker8"})
		},
		"search a frequent word": func() ([]memory.Observation, error) { return d.Search(b.Context(), memory.Query{Text: "service7"}) },
		"search a word of an agent": func() ([]memory.Observation, error) {
			return d.Search(b.Context(), memory.Query{Text: "service7", Handle: handle(3)})
		},
		"search a word that all have": func() ([]memory.Observation, error) { return d.Search(b.Context(), memory.Query{Text: "cache"}) },
		"search six words that all have, of an agent since a week": func() ([]memory.Observation, error) {
			return d.Search(b.Context(), memory.Query{Text: "the cache was stale deployment release", Handle: handle(3), Since: week})
		},
		"brief: latest of an agent": func() ([]memory.Observation, error) {
			return d.Latest(b.Context(), memory.Query{Handle: handle(3), Limit: 200})
		},
		"latest of all":    func() ([]memory.Observation, error) { return d.Latest(b.Context(), memory.Query{Limit: 200}) },
		"latest of nobody": func() ([]memory.Observation, error) { return d.Latest(b.Context(), memory.Query{Handle: "nobody"}) },
		"latest with a word": func() ([]memory.Observation, error) {
			return d.Latest(b.Context(), memory.Query{Text: "cache", Handle: handle(3)})
		},
		"status": func() ([]memory.Observation, error) { _, err := d.Status(b.Context()); return nil, err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := ask()
				rig.Must(b, err)
			}
		})
	}
	b.Run("store a turn of five", func(b *testing.B) {
		content := agent.NewSessionID()
		observe(b, d, "writer", content, watcher)
		n := 0
		for b.Loop() {
			var all []memory.Observation
			for range 5 {
				n++
				all = append(all, by(watcher, fmt.Sprintf("The cache number %d", n)))
			}
			keep(b, d, content, n, "r", all...)
		}
	})
}
