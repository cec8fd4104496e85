package db

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
)

// Search returns the observations that match the words, best first.
func (d *Database) Search(ctx context.Context, q memory.Query) ([]memory.Observation, error) {
	match := matching(q.Text)
	if q.Any {
		match = matchingAny(q.Text)
	}
	if match == "" {
		return nil, fail.Errorf(fail.BadInput, "%s contains no word to search for", human.Quote(q.Text))
	}
	oldest, err := d.oldestRanked(ctx, match)
	if err != nil {
		return nil, err
	}
	found, err := d.ranked(ctx, q, match, oldest)
	if err != nil || oldest == 0 || len(found) == limit(q) {
		return found, err
	}
	return d.ranked(ctx, q, match, 0)
}

// mostRanked is how many matching observations, the newest, are ranked at first. Words that all observations have say
// little, and to rank 100,000 takes a tenth of a second.
const mostRanked = 10_000

// oldestRanked returns the id of the oldest of the mostRanked newest observations that match, or 0 if there are
// fewer.
func (d *Database) oldestRanked(ctx context.Context, match string) (id int64, err error) {
	err = d.sql.QueryRowContext(ctx, "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?", match, d.mostRanked-1).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, d.failed(err)
}

func (d *Database) ranked(ctx context.Context, q memory.Query, match string, oldest int64) ([]memory.Observation, error) {
	where, args := filter(q)
	return d.list(ctx, " FROM words JOIN observations o ON o.id = words.rowid"+ofConversation+
		" WHERE words MATCH ? AND words.rowid >= ?"+where+" ORDER BY words.rank LIMIT ?", append(append([]any{match, oldest}, args...), limit(q)))
}

// matchingAny is matching for a text in which a person talks: one of its longer words is enough.
func matchingAny(text string) string {
	const shortest, most = 4, 50 // letters; words
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if quoted := `"` + word + `"`; utf8.RuneCountInString(word) >= shortest && len(words) < most && !slices.Contains(words, quoted) {
			words = append(words, quoted)
		}
	}
	return strings.Join(words, " OR ")
}

// matching returns the words in the language of FTS5: each in quotes, so that none of them is an operator.
func matching(text string) string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			words = append(words, `"`+strings.ReplaceAll(word, `"`, `""`)+`"`)
		}
	}
	return strings.Join(words, " ")
}

// Latest returns observations, newest first.
func (d *Database) Latest(ctx context.Context, q memory.Query) ([]memory.Observation, error) {
	where, args := filter(q)
	if match := matching(q.Text); match != "" {
		where, args = where+" AND o.id IN (SELECT rowid FROM words WHERE words MATCH ?)", append(args, match)
	}
	return d.list(ctx, " FROM observations o"+ofConversation+" WHERE true"+where+" ORDER BY o.at DESC, o.id DESC LIMIT ?", append(args, limit(q)))
}

// filter returns the conditions of a query, without its words.
func filter(q memory.Query) (where string, args []any) {
	if q.Handle != "" {
		where, args = where+" AND "+named(q.Handle), append(args, q.Handle)
	}
	if q.Keys != nil {
		where, args = where+" AND (instr(c.handle, ?) <> 1 OR instr(c.handle, ?) = 1)", append(args, agent.OfConversation(""), agent.OfConversation(*q.Keys))
	}
	if !q.Since.IsZero() {
		where, args = where+" AND o.at >= ?", append(args, q.Since.UnixMilli())
	}
	if !q.Until.IsZero() {
		where, args = where+" AND o.at < ?", append(args, q.Until.UnixMilli())
	}
	return where, args
}

// named returns the condition that a conversation is of a name. Agents' handles are the same in capitals, keys are not.
func named(name agent.Handle) string {
	if _, is := name.Conversation(); is {
		return "c.handle = ? COLLATE BINARY"
	}
	return "c.handle = ?"
}

func limit(q memory.Query) int {
	if q.Limit <= 0 {
		return memory.DefaultLimit
	}
	return q.Limit
}

func (d *Database) list(ctx context.Context, from string, args []any) ([]memory.Observation, error) {
	rows, err := d.sql.QueryContext(ctx, "SELECT "+observationColumns+from, args...) //nolint:gosec // G202: from is of this file, and holds marks for what users say
	return collect(d, rows, err, func() (memory.Observation, error) { return scanObservation(rows.Scan) })
}
