package standin

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
)

var notSlug = regexp.MustCompile(`[^A-Za-z0-9]`)

// slug is the name of the folder that holds the transcripts of a working directory.
func slug(cwd string) string {
	s := notSlug.ReplaceAllString(cwd, "-")
	if len(s) <= 200 {
		return s
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(cwd)) // never fails
	return fmt.Sprintf("%s-%06x", s[:200], h.Sum32()&0xffffff)
}

// findTranscript returns the transcript of a session, or "". The older version looks only in the folder of
// the working directory, the newer one in all of them. A file in which nobody has said anything yet (a program killed early
// leaves one) is no conversation.
func findTranscript(configDir, cwd, id string, old bool) string {
	pattern := filepath.Join(configDir, "projects", "*", id+".jsonl")
	if old {
		pattern = transcriptPath(configDir, cwd, id)
	}
	found, _ := filepath.Glob(pattern) // fails only on a malformed pattern; ids are checked before
	for _, name := range found {
		t := transcript{path: name}
		if t.load() == nil && len(t.conversation()) > 0 {
			return name
		}
	}
	return ""
}

func transcriptPath(configDir, cwd, id string) string {
	return filepath.Join(configDir, "projects", slug(cwd), id+".jsonl")
}

// inUse reports whether --session-id would collide: it does when the file exists, even an empty one.
func inUse(configDir, cwd, id string) bool {
	_, err := os.Stat(transcriptPath(configDir, cwd, id))
	return err == nil
}
