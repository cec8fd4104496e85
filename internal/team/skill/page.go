// Package skill writes the skill by which agents use nbs-worker: one page, in a folder where Claude Code looks for skills
// or in a plugin of Claude Code.
//
// The page has the version of the program that wrote it, and a checksum. A page that was changed since, or that
// nbs-worker did not write, is neither replaced nor removed unless that is forced. No symbolic link is followed below the
// folder that holds the skill.
package skill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// Name is the name of the skill, and of the plugin.
const Name = "nbs-worker"

// Page is what an agent reads.
type Page struct {
	Description string // Claude decides by it when to read the page
	Version     string // of the program
	Body        string // Markdown
}

// Text returns the page as Claude Code reads it. An agent does not see the part above the body.
func (p Page) Text() []byte {
	const head = "---\nname: %s\ndescription: %s\nmetadata:\n  version: %s\n---\n\n%s"
	text := fmt.Appendf(nil, head, Name, strconv.Quote(p.Description), strconv.Quote(p.Version), p.Body)
	at := versionLine().FindIndex(text)[1]
	return bytes.Join([][]byte{text[:at], sumLine(text), text[at:]}, nil)
}

var (
	versionLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^  version: (".*")\n`) })
	checksumLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^  checksum: [0-9a-f]*\n`) })
)

// sumLine returns the line with the checksum of a text that has no such line.
func sumLine(text []byte) []byte {
	sum := sha256.Sum256(text)
	return fmt.Appendf(nil, "  checksum: %s\n", hex.EncodeToString(sum[:8]))
}

// isPage reports whether nbs-worker wrote a page, and the page is unchanged.
func isPage(text []byte) bool {
	at := checksumLine().FindIndex(text)
	if at == nil {
		return false
	}
	without := bytes.Join([][]byte{text[:at[0]], text[at[1]:]}, nil)
	return bytes.Equal(sumLine(without), text[at[0]:at[1]])
}

// versionOf returns the version of the program that wrote a page; "" if the page has none.
func versionOf(text []byte) string {
	found := versionLine().FindSubmatch(text)
	if found == nil || !checksumLine().Match(text) {
		return ""
	}
	version, _ := strconv.Unquote(string(found[1])) // a page that was changed: no version
	return version
}
