package security

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Each record is bounded, and so is what a list reads of all of them: a clone may bring any number.
func TestListOfManyLargeRecords(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "zeta")
	m.StoppedAlpha()
	const large = 150
	for i := range large {
		handle := fmt.Sprintf("b%03d", i)
		fields := m.Record("alpha")
		fields["handle"], fields["new"] = handle, strings.Repeat("x", 1<<20-8<<10)
		text, err := json.Marshal(fields)
		m.Must(err)
		m.WriteRecord(handle, string(text))
	}
	list := m.Command([]string{"list", "--json"})
	r := m.Finish(list)
	var rows []struct{ Handle, State string }
	err := json.Unmarshal([]byte(r.Stdout), &rows)
	m.Check(err == nil && len(rows) == large+2 && r.Code == 7, "code %d, %d rows, %v", r.Code, len(rows), err)
	unread := 0
	for _, row := range rows {
		if row.State == "unknown" {
			unread++
		}
	}
	if rows[0].State != "stopped" || unread < 50 || unread > large-50 {
		t.Errorf("%d of %d are unknown; %+v", unread, len(rows), rows[0])
	}
	m.Check(strings.Contains(r.Stderr, "the record was not read: the records before it have more than 64 MiB in total"), "%s", r.Stderr)
	memory := list.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	t.Logf("%d MB", memory)
	m.Check(memory <= 256 || rig.Race, "it took %d MB", memory)
	m.OK("session", "zeta")
	m.OK("dismiss", "zeta")
}
