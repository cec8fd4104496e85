package conversations

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// A turn that waits gets another text. One of which an attempt has begun keeps its own, and an attempt that has read the
// text before does not begin.
func TestTheTextOfAWaitingTurnIsReplaced(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	_, err := c.Replace(t.Context(), "a", "x")
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "of no conversation: %v", err)
	for _, id := range []string{"a", "b"} {
		mustEnqueue(t, c, asked(id, "hello"))
	}
	read := mustState(t, c).Open[0]
	for _, text := range []string{"good evening", "good night", "good night"} {
		done, err := c.Replace(t.Context(), "a", text)
		rig.Check(t, err == nil && done, "%s: %v, %v", text, done, err)
	}
	request, err := c.Request(1)
	rig.Check(t, err == nil && request.Text == "good night" && request.ID == "a", "%+v, %v", request, err)
	keys, err := d.WithWork()
	rig.Check(t, err == nil && len(keys) == 1, "%v, %v", keys, err)
	begun := start(1)
	begun.SHA = read.SHA
	rig.Check(t, errors.Is(c.Begin(t.Context(), begun), ErrReplaced), "an attempt with the old text begins")
	begun.SHA = mustState(t, c).Open[0].SHA
	rig.Must(t, c.Begin(t.Context(), begun))
	done, err := c.Replace(t.Context(), "a", "too late")
	rig.Check(t, err == nil && !done, "one that has begun: %v, %v", done, err)
	rig.Must(t, c.Finish(t.Context(), answered(1, "OK.")))
	storetest.WantNames(t, c.nbs.Path(pendingFolder), pendingFile(c.hash, 2, 0))
	_, err = c.Replace(t.Context(), "a", "later still")
	rig.Equal(t, fail.KindOf(err), fail.NotFound, "one that is over")
	for _, id := range []string{"", "..", "a.json"} {
		_, _, _, is := pendingPlace(c.hash + id)
		rig.Check(t, !is, "%q is taken for a request", id)
	}
}

// A file of a text is private, has a harmless name, and counts only as it was kept.
func TestFilesOfAText(t *testing.T) {
	t.Parallel()
	d, _ := inProject(t)
	c := d.Of(chat)
	for name, want := range map[string]string{
		"report.pdf": "-0-report.pdf", "../../.ssh/id rsa": "-0-id_rsa", "-x;$(a)\n.sh": "-0--x___a__.sh", "": "-0-.", "größe.txt": "-0-gr__e.txt",
		strings.Repeat("x", 300) + "." + strings.Repeat("y", 300): "-0-" + strings.Repeat("x", 40) + "." + strings.Repeat("y", 39),
	} {
		f, err := c.KeepFile("telegram:7", 0, File{Name: name, Type: "text/plain"}, []byte("hello"))
		rig.Check(t, err == nil && f.Kept[8:] == want && f.Name == name && f.Size == 5, "%q is kept as %+v, %v", name, f, err)
		content, err := c.FileContent(f)
		rig.Check(t, err == nil && string(content) == "hello", "%q, %v", content, err)
		info, err := os.Stat(c.FilePath(f))
		rig.Check(t, err == nil && info.Mode() == 0o600, "%v, %v", info, err)
		storetest.Write(t, c.FilePath(f), "changed")
		_, err = c.FileContent(f)
		rig.Equal(t, fail.KindOf(err), fail.Held, "a changed file")
	}
	_, err := c.KeepFile("telegram:7", 0, File{}, make([]byte, LargestFile+1))
	rig.Equal(t, fail.KindOf(err), fail.BadInput, "a large file")

	// A file goes with the results of its time, unless a turn waits.
	c.compactAbove = 1
	old := time.Now().Add(-resultsKept - time.Hour)
	for _, open := range []bool{true, false} {
		f, err := c.KeepFile("a", 0, File{Name: "x"}, []byte("x"))
		rig.Must(t, err)
		rig.Must(t, os.Chtimes(c.FilePath(f), old, old))
		request := asked("a", "x")
		request.Files, request.At = []File{f}, time.Now()
		if open {
			mustEnqueue(t, c, request)
		} else {
			rig.Must(t, c.Skip(t.Context(), 1, "x"))
			for range 10 { // until it is compacted
				_, err := c.Reset(t.Context(), "x", nil)
				rig.Must(t, err)
			}
		}
		_, err = os.Stat(c.FilePath(f))
		rig.Check(t, (err == nil) == open, "while a turn waits (%v): %v", open, err)
	}
}
