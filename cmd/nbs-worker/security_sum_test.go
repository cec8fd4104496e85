package main

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
	m.ok("spawn", "zeta")
	m.stoppedAlpha()
	const large = 150
	for i := range large {
		handle := fmt.Sprintf("b%03d", i)
		fields := m.record("alpha")
		fields["handle"], fields["new"] = handle, strings.Repeat("x", 1<<20-8<<10)
		text, err := json.Marshal(fields)
		m.must(err)
		m.writeRecord(handle, string(text))
	}
	list := m.command([]string{"list", "--json"})
	r := m.finish(list)
	var rows []struct{ Handle, State string }
	err := json.Unmarshal([]byte(r.stdout), &rows)
	m.check(err == nil && len(rows) == large+2 && r.code == 7, "code %d, %d rows, %v", r.code, len(rows), err)
	unread := 0
	for _, row := range rows {
		if row.State == "unknown" {
			unread++
		}
	}
	if rows[0].State != "stopped" || unread < 50 || unread > large-50 {
		t.Errorf("%d of %d are unknown; %+v", unread, len(rows), rows[0])
	}
	m.check(strings.Contains(r.stderr, "the record was not read: those before it have more than 64 MiB in all"), "%s", r.stderr)
	memory := list.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	t.Logf("%d MB", memory)
	m.check(memory <= 256 || rig.Race, "it took %d MB", memory)
	m.ok("session", "zeta")
	m.ok("dismiss", "zeta")
}
