package ui

import (
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/doctor"
)

func TestCheckupFitsEightyColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	fix := "chmod -R go= '/srv/" + strings.Repeat("a folder/", 12) + ".nbs'"
	f := &Factory{Streams: Streams{Out: &out, OutTTY: true, Width: 80}}
	writeFinding(f, &out, doctor.Finding{Level: doctor.Note, What: strings.Repeat("this machine is very busy ", 5), Why: strings.Repeat("starts take long ", 8) + "\nin two lines", Fix: []string{fix}})
	text, command, _ := strings.Cut(out.String(), "           fix: ")
	uitest.MustFit(t, text, "\n           starts take long", "\n  in two lines\n")
	rig.Equal(t, command, fix+"\n", "the command to paste")
}
