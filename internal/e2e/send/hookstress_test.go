package send

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Many agents report at once, each by four hooks with a status line beside: whoever
// looks after a hook finds what it said, and whoever looks at any moment finds a whole file.
func TestManyAgentsReportAtOnce(t *testing.T) {
	m := standIn(t)
	s := m.Remembers("alpha")
	m.OK("stop", "alpha")
	handles := make([]string, 25)
	for i := range handles {
		handles[i] = fmt.Sprintf("agent-%d", i)
		m.WriteRecord(handles[i], strings.Replace(m.RecordText("alpha"), `"handle": "alpha"`, `"handle": "`+handles[i]+`"`, 1))
	}
	var over atomic.Bool
	var readers, agents sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for i := 0; !over.Load(); i++ {
				text, err := os.ReadFile(m.InNbs("status", handles[i%len(handles)]+".json"))
				m.Check(err != nil || json.Valid(text), "a torn file: %q", text)
			}
		})
	}
	for _, handle := range handles {
		agents.Go(func() { m.fourHooks(handle, s.SessionID) })
	}
	agents.Wait()
	over.Store(true)
	readers.Wait()
	files, err := os.ReadDir(m.InNbs("status"))
	m.Check(err == nil && len(files) == len(handles)+1, "%v: %v", files, err)
}

func (m *team) fourHooks(handle, id string) {
	for i := range 4 {
		event, state := "UserPromptSubmit", "busy"
		if i%2 == 1 {
			event, state = "Stop", "idle"
		}
		var both sync.WaitGroup
		both.Go(func() { m.Said(handle, "hook", `{"session_id":"`+id+`","hook_event_name":"`+event+`"}`) })
		both.Go(func() {
			m.Said(handle, "statusline", fmt.Sprintf(`{"context_window":{"context_window_size":%d}}`, 1000+i))
		})
		both.Wait()
		r := m.Report(handle)
		m.Check(r.Activity.Hook == event && r.Activity.State == state && r.Gauge != nil && r.Gauge.Window == 1000+i, "%s, after hook %d: %+v", handle, i, r)
	}
}
