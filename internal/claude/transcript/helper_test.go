package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

const sessionID = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")

// put writes a file in a folder of its own.
func put(t testing.TB, lines ...string) File {
	t.Helper()
	text := strings.Join(lines, "")
	path := filepath.Join(t.TempDir(), "t.jsonl")
	rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return File{Path: path, Size: int64(len(text))}
}

// Lines of transcripts, as Claude Code writes them, less what is not used.
const (
	metaLine = `{"type":"permission-mode","permissionMode":"manual","sessionId":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"}` + "\n" +
		`{"type":"file-history-snapshot","messageId":"m","snapshot":{"trackedFileBackups":{}}}` + "\n"
	userLine = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Remember 42."},` +
		`"cwd":"/srv/project","version":"2.1.329","sessionId":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"}` + "\n"
	sidechainLine = `{"isSidechain":true,"type":"user","message":{"role":"user","content":"Look around."},"cwd":"/srv/project"}` + "\n"
	compactLine   = `{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":150000},"version":"2.1.329"}` + "\n"
	errorLine     = `{"isSidechain":false,"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>",` +
		`"usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}},"version":"2.1.329"}` + "\n"
)

// replyLine is a reply whose request filled the window to twice the input and one.
func replyLine(version, model string, input int) string {
	return fmt.Sprintf(`{"isSidechain":false,"type":"assistant","message":{"model":%q,"role":"assistant","content":[{"type":"text","text":"OK."}],`+
		`"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":1,"output_tokens":9}},"cwd":"/srv/project","version":%q}`+"\n",
		model, input, input, version)
}
