package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/team/observe"
)

// AtNode runs a verb for an agent on the node of its job, and reads the JSON that it prints. Errors: those of the verb
// there, in their kind and with their hints; those of observe.Project.AtNode.
func AtNode(ctx context.Context, p *observe.Project, job slurm.Job, into any, verb, handle string) error {
	const limit = 15 * time.Second // for the verb itself
	ended, err := p.AtNode(ctx, limit, job, verb, handle, "--json")
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(ended.Out); text != "" {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			return fmt.Errorf("read what the node prints: %w", err)
		}
	}
	if ended.Code == 0 {
		return nil
	}
	c := link.ReadComplaint(ended.Code, ended.Said)
	what := strings.TrimPrefix(c.What, verb+" "+handle+": ")
	return &fail.Error{Kind: c.Kind, Err: errors.New(what), Hints: c.Hints}
}
