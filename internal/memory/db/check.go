package db

import (
	"context"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
)

// rules must hold for every database, whichever program wrote it. Each query returns a line per violation, and the names
// of the two whose ids are in it.
var rules = []string{
	"SELECT 'damaged: ' || integrity_check, '', '' FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
	`SELECT 'observation ' || o.id || ' belongs to no conversation', '', '' FROM observations o
		LEFT JOIN observed c ON c.memory_id = o.memory_id WHERE c.content_id IS NULL`,
	`SELECT 'memory id ' || m.memory_id || ' of ' || m.content_id || ' is the conversation of an agent', m.handle, c.handle FROM observed m
		JOIN observed c ON c.content_id = m.memory_id`,
}

// Check looks for violations of the rules.
func (d *Database) Check(ctx context.Context, sees func(agent.Handle) bool) (all []string, err error) {
	for _, rule := range rules {
		rows, err := d.sql.QueryContext(ctx, rule)
		found, err := collect(d, rows, err, func() (line string, err error) {
			var of, with agent.Handle
			if err := rows.Scan(&line, &of, &with); err != nil {
				return "", err
			}
			return memory.Seen(line, sees, of, with), nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	// This compares the index of words with the observations. It only reads, although it has the form of an insert.
	if _, err := d.sql.ExecContext(ctx, "INSERT INTO words (words, rank) VALUES ('integrity-check', 1)"); err != nil {
		all = append(all, fmt.Sprintf("the index of words does not match the observations: %v", err))
	}
	return all, nil
}
