package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"nbs-worker/internal/human"
)

func (d *examination) brokenJournal(_ context.Context) findings {
	path := human.ShellWord(filepath.Join(d.project.Store.Folder(), "journal.jsonl"))
	chain, err := d.project.Store.Journal().Verify()
	switch {
	case err != nil:
		return found(Failure, "the journal cannot be read: "+oneLine(err), "no verb can record its actions", "look at it: ls -l "+path)
	case chain.Broken != nil:
		return found(Failure, "the journal was changed: "+chain.Broken.Error(), "its lines from there on prove nothing; nbs-worker itself does not rely on them",
			"keep a copy, and check it: nbs-worker events --verify")
	case len(chain.Torn) > 0:
		return found(Warning, fmt.Sprintf("line %d of the journal is not an event", chain.Torn[0]), "a full disk or a power cut has cut it short; the other lines are still read",
			fmt.Sprintf("to see it: sed -n %dp %s", chain.Torn[0], path))
	}
	return nil
}
