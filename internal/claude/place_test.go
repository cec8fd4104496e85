package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestRestorePath(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	cwd := filepath.Join(t.TempDir(), "a.b_c dé")
	for folder, want := range map[string]string{
		"-srv-project": "-srv-project",
		"":             strings.NewReplacer("/", "-", ".", "-", "_", "-", " ", "-", "é", "-").Replace(cwd),
	} {
		path, err := config.RestorePath(sessionID, folder, cwd)
		rig.Check(t, err == nil && path == filepath.Join(config.projects(), want, string(sessionID)+".jsonl"), "%q: %s, %v", folder, path, err)
		info, err := os.Stat(filepath.Dir(path))
		rig.Check(t, err == nil && info.Mode().Perm() == 0o700, "%q: %v, %v", folder, info, err)
	}
}

func TestClearPlace(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	rig.Must(t, config.ClearPlace(sessionID))
	config.putTranscript(t, metaLine)
	rig.Must(t, config.ClearPlace(sessionID))
	config.putTranscript(t, userLine)
	err := config.ClearPlace(sessionID)
	wantKind(t, "spoken", err, fail.Conflict)
	rig.Check(t, err != nil && strings.Contains(err.Error(), string(sessionID)), "%v", err)
}

// linked gives the transcript of sessionID a second name in the folder of a working directory.
func (c Config) linked(t *testing.T, cwd string) (path string) {
	t.Helper()
	rig.Must(t, c.LinkTranscript(sessionID, cwd))
	return filepath.Join(c.projects(), slug(cwd), string(sessionID)+".jsonl")
}

// A transcript with two names is deleted under one of them while claude is at work, which writes it anew:
// the other name is then of what the conversation was.
func TestLinkReplacesAStaleName(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	cwd := t.TempDir()
	rig.Must(t, c.LinkTranscript(sessionID, cwd)) // there is none yet
	was := c.putTranscript(t, userLine)
	second := c.linked(t, cwd)
	rig.Must(t, os.Remove(was.Path))
	rig.Must(t, os.Chtimes(second, someTime(), someTime()))
	is := c.putTranscript(t, userLine, userLine)
	rig.Equal(t, c.linked(t, cwd), second, "the second name")
	rig.Equal(t, c.linked(t, cwd), second, "the second name, linked again")
	for path, want := range map[string]string{is.Path: userLine + userLine, second: userLine + userLine, second + ".stale": userLine} {
		got, err := os.ReadFile(path)
		rig.Check(t, string(got) == want && err == nil, "%s has %q, %v", path, got, err)
	}
}

// Whichever name claude finds, it would go on from what was set aside.
func TestAllNamesOfATranscriptAreSetAside(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	first, second := c.putTranscript(t, userLine).Path, c.linked(t, t.TempDir())
	aside, err := c.SetShortenedAside(sessionID)
	rig.Check(t, err == nil && (aside == first+".shortened" || aside == second+".shortened"), "aside is %s, %v", aside, err)
	rig.Must(t, c.ClearPlace(sessionID))
	for _, path := range []string{first, second} {
		got, err := os.ReadFile(path + ".shortened")
		rig.Check(t, string(got) == userLine && err == nil, "%s: %q, %v", path, got, err)
	}
}

// What was set aside before may have messages that no other file has.
func TestSettingAsideTwiceLosesNothing(t *testing.T) {
	t.Parallel()
	c, cwd := newConfig(t), t.TempDir()
	texts, aside := []string{userLine, userLine + userLine, userLine + userLine + userLine}, map[string]string{}
	for _, text := range texts {
		c.putTranscript(t, text)
		path, err := c.SetShortenedAside(sessionID)
		rig.Must(t, err)
		aside[path] = text
	}
	rig.Equal(t, len(aside), len(texts), "names of what was set aside")
	for i, text := range texts {
		is := c.putTranscript(t, text)
		second := c.linked(t, cwd)
		aside[[]string{second + ".stale", second + ".stale.2", second}[i]] = text
		rig.Must(t, os.Remove(is.Path))
		rig.Must(t, os.Chtimes(second, someTime(), someTime()))
	}
	for path, want := range aside {
		got, err := os.ReadFile(path)
		rig.Check(t, string(got) == want && err == nil, "%s has %q, %v", path, got, err)
	}
}

func TestStubIsSetAsideAndNotLost(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"a stub": metaLine, "an empty one": ""} {
		c := newConfig(t)
		rig.Must(t, c.SetStubAside(sessionID))
		stub := c.putTranscript(t, text)
		rig.Must(t, c.SetStubAside(sessionID))
		if _, found, err := c.Transcript(sessionID); found || err != nil {
			t.Errorf("%s is still found: %v", what, err)
		}
		kept, err := os.ReadFile(stub.Path + ".unspoken")
		rig.Check(t, string(kept) == text && err == nil, "%s is lost: %q, %v", what, kept, err)
	}
}

func TestConversationIsNeverSetAside(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	before := c.putTranscript(t, metaLine, userLine)
	rig.Must(t, c.SetStubAside(sessionID))
	after, found, err := c.Transcript(sessionID)
	rig.Check(t, found && after == before && err == nil, "the conversation is %+v, %t, %v", after, found, err)
}
