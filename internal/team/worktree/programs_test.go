package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// A program that only the repository names does not run: an agent can write its configuration.
func TestNoProgramOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trap := filepath.Join(w.dir, "RAN")
	for _, name := range []string{"filter.x.clean", "filter.x.smudge", "filter.y.process", "core.fsmonitor", "core.sshCommand"} {
		w.git("project", "config", name, "touch "+trap+" #")
	}
	w.put("bin/gpg", "#!/bin/sh\ntouch "+trap+"\n")
	w.run("chmod", "+x", w.at("bin/gpg"))
	w.git("project", "config", "gpg.program", w.at("bin/gpg"))
	w.git("project", "config", "log.showSignature", "true")
	w.put("project/.git/info/attributes", "a.txt filter=x\n*.log filter=y\n")
	w.git("project", "config", "extensions.partialClone", "origin") // what is missing is fetched
	w.git("project", "config", "remote.origin.promisor", "true")
	w.git("project", "config", "remote.origin.url", "ssh://example.invalid/x")
	w.put("signed", "tree "+w.git("project", "rev-parse", "HEAD^{tree}")+"\nparent "+w.git("project", "rev-parse", "HEAD")+
		"\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\nWIP on x\n")
	w.git("project", "stash", "store", "-m", "WIP on x", w.git("project", "hash-object", "-t", "commit", "-w", w.at("signed")))
	ran := func(when string) {
		_, err := os.Stat(trap)
		rig.Check(t, os.IsNotExist(err), "%s ran a program: %v", when, err)
	}
	w.put("tree/a.txt", "a\n") // as it was, and newer
	_ = os.Remove(trap)        // git has run it for this test

	w.tree.Obstacles(t.Context(), local.New(), true)
	ran("a look at a tree with a stash")
	w.git("project", "update-ref", "-d", "refs/stash")
	_ = os.Remove(trap)
	_, err := w.remove()
	rig.Must(t, err)
	ran("the removal")
	_, err = w.plan(Wanted{})
	rig.Must(t, err)
	w.made(Wanted{Branch: "other"})
	ran("a new tree")
}
