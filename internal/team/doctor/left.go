package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/human"
)

// orphanedLeases finds leases of agents whose holder runs and is not the launcher of an agent. A lease that names no
// agent is held for a turn of a conversation, or by an observer of the memory.
func (d *examination) orphanedLeases(_ context.Context) (all findings) {
	locks, err := d.project.Machine.Flocks()
	if err != nil {
		return found(Note, "the locks of this machine cannot be listed: "+oneLine(err), "")
	}
	ours := map[int]bool{}
	for _, row := range d.known() {
		if row.Record.Process != nil {
			ours[row.Record.Process.Launcher.PID] = true
		}
	}
	for _, signed := range d.project.Store.Signatures() {
		pid, held := locks[signed.Inode]
		session, isLease := strings.CutSuffix(signed.Name, ".lease")
		if !isLease || !held || ours[pid] || pid == os.Getpid() || signed.Holder.Handle == "" || d.atWork(signed.Holder.Handle) {
			continue
		}
		all.add(Warning, fmt.Sprintf("process %d holds the lease on the conversation %s, and no record names that process", pid, session),
			"the conversation cannot be opened until that process ends", d.hintKill(pid, "to end it, and the claude that it runs: kill %d")...)
	}
	return all
}

// leftAfter is the age after which a temporary file must come from a killed command.
const leftAfter = time.Hour

func (d *examination) leftovers(_ context.Context) (all findings) {
	left := d.project.Store.Leftovers(d.project.Now(), leftAfter)
	if len(left) == 0 {
		return nil
	}
	f := all.add(Note, fmt.Sprintf("killed commands have left %s, such as %s", human.Count(len(left), "file"), human.Quote(left[0].Path)),
		"a leftover launch file contains an environment, and perhaps secrets", "nbs-worker doctor --fix")
	f.about = left[0].Path // the number of files may have grown at the second look
	f.repair = func(context.Context) (string, error) {
		for _, one := range left {
			if err := d.project.Store.RemoveLeftover(one, d.project.Now(), leftAfter); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("removed %s that killed commands had left", human.Count(len(left), "file")), nil
	}
	return all
}

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
