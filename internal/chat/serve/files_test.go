package serve

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// A chat gets plain files of the project, and nothing else.
func TestAChatGetsFilesOfTheProject(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	chats := &Chats{Server: New(s.engine(), func(string, ...any) {}), Notes: s.store.Deliveries()}
	project := s.store.Project()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	keys := []string{
		".env", "prod.env", ".git/config", "server.pem", "prod.PEM", "X.Env", "keys/id_rsa", "tls.key", "my.p12",
		"ID_Ed25519", "id_rsa.bak", "a.PFX", "Secrets.kdbx", "putty.ppk", ".netrc", "home/.NETRC", "Credentials", "aws/credentials.csv", "credentials/a.txt",
	}
	for _, path := range append([]string{"out/report.pdf", "out/my report.pdf", "keynote.txt", "monkey", "id_rsa_notes.md"}, keys...) {
		path = filepath.Join(project, path)
		rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		storetest.Write(t, path, "content")
	}
	storetest.Write(t, outside, "content")
	rig.Must(t, os.Symlink(outside, filepath.Join(project, "link.txt")))
	rig.Must(t, os.Symlink(".git", filepath.Join(project, "folder")))
	for _, path := range []string{"out/report.pdf", "./out/report.pdf", "out/../out/report.pdf", "out/my report.pdf", filepath.Join(project, "out/report.pdf"), "keynote.txt", "monkey", "id_rsa_notes.md"} {
		f, err := chats.File(path)
		rig.Must(t, err)
		text, err := io.ReadAll(f)
		rig.Check(t, err == nil && string(text) == "content" && f.Close() == nil, "%s: %q, %v", path, text, err)
	}
	for path, kind := range map[string]fail.Kind{
		"out/none": fail.NotFound, "out/report.pdf/x": fail.BadInput, "out": fail.BadInput, ".": fail.BadInput, "": fail.BadInput, "/": fail.BadInput,
		"../secret.txt": fail.BadInput, outside: fail.BadInput, "link.txt": fail.BadInput, "folder/config": fail.BadInput,
		".nbs/journal.jsonl": fail.BadInput,
	} {
		_, err := chats.File(path)
		rig.Check(t, err != nil && fail.KindOf(err) == kind, "%q: %v", path, err)
	}
	for _, path := range keys {
		_, err := chats.File(path)
		rig.Check(t, err != nil && fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "hidden, or has keys"), "%q: %v", path, err)
		rig.Same(t, "named files", []string(nil), chats.named("I changed "+path, time.Time{}, time.Now().Add(time.Hour)))
	}
}

// Of the files that an answer names, those are offered that its turn has changed.
func TestAnAnswerOffersTheFilesThatItHasChanged(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	chats := &Chats{Server: New(s.engine(), func(string, ...any) {}), Notes: s.store.Deliveries()}
	project, from := s.store.Project(), storetest.SomeTime()
	for name, changed := range map[string]time.Time{
		"report.pdf": from.Add(time.Second), "out/data.csv": from.Add(time.Minute), "old.txt": from.Add(-time.Second), "later.txt": from.Add(2 * time.Minute),
		"other.txt": from.Add(time.Second), ".env": from.Add(time.Second), "main.go": from.Add(time.Second),
	} {
		path := filepath.Join(project, name)
		rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		storetest.Write(t, path, "content")
		rig.Must(t, os.Chtimes(path, changed, changed))
	}
	answer := "I wrote `report.pdf` (not old.txt, later.txt or .env), [the data](out/data.csv), " + project + "/report.pdf and main.go:12: see none.txt. 1.5 and/or..."
	rig.Same(t, "files", []string{"report.pdf", "out/data.csv", "main.go"}, chats.named(answer, from, from.Add(time.Minute)))
	rig.Same(t, "files", []string(nil), chats.named("Done.", from, from.Add(time.Minute)))
}
