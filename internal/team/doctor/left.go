package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/proc"
)

// orphanedLeases looks for leases of agents whose holder lives and is no agent's launcher. A lease that names no agent
// is held for a conversation's turn, or by an observer of the memory.
func (d *examination) orphanedLeases(_ context.Context) (all findings) {
	locks, err := proc.Flocks()
	if err != nil {
		return found(Note, "the locks of this machine cannot be listed: "+oneLine(err), "")
	}
	ours := map[int]bool{}
	for _, row := range d.known() {
		if row.Record.Process != nil {
			ours[row.Record.Process.Launcher.PID] = true
		}
	}
	for _, signed := range d.Store.Signatures() {
		pid, held := locks[signed.Inode]
		session, isLease := strings.CutSuffix(signed.Name, ".lease")
		if !isLease || !held || ours[pid] || pid == os.Getpid() || signed.Holder.Handle == "" || d.atWork(signed.Holder.Handle) {
			continue
		}
		all.add(Warning, fmt.Sprintf("the lease on the conversation %s is held by process %d, and no record names that process", session, pid),
			"the conversation cannot be opened as long as it is", hintKill(pid, "and to end it, with the claude that it runs: kill %d")...)
	}
	return all
}

// leftAfter is the age from which on a file was surely left by a command that was killed.
const leftAfter = time.Hour

func (d *examination) leftovers(_ context.Context) (all findings) {
	left := d.Store.Leftovers(d.Now(), leftAfter)
	if len(left) == 0 {
		return nil
	}
	f := all.add(Note, fmt.Sprintf("commands that were killed have left %s, such as %s", human.Count(len(left), "file"), human.Quote(left[0].Path)),
		"a launch that nobody took holds an environment, and may hold secrets", "nbs-worker doctor --fix")
	f.about = left[0].Path // the number of files may have grown at the second look
	f.repair = func(context.Context) (string, error) {
		for _, one := range left {
			if err := d.Store.RemoveLeftover(one, d.Now(), leftAfter); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("removed %s that killed commands had left", human.Count(len(left), "file")), nil
	}
	return all
}

func (d *examination) brokenJournal(_ context.Context) findings {
	path := human.ShellWord(filepath.Join(d.Store.Folder(), "journal.jsonl"))
	chain, err := d.Store.Journal().Verify()
	switch {
	case err != nil:
		return found(Failure, "the journal cannot be read: "+oneLine(err), "no verb can write down what it does", "look at what it is: ls -l "+path)
	case chain.Broken != nil:
		return found(Failure, "the journal is not as it was written: "+chain.Broken.Error(), "what it says from there on is no evidence; nothing else depends on it",
			"keep a copy of it, and see for yourself: nbs-worker events --verify")
	case len(chain.Torn) > 0:
		return found(Warning, fmt.Sprintf("line %d of the journal is no event", chain.Torn[0]), "it was cut short by a full disk or a power cut; the rest is read all the same",
			fmt.Sprintf("to see it: sed -n %dp %s", chain.Torn[0], path))
	}
	return nil
}
