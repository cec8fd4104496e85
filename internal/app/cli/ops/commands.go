// Package ops has the commands for the health of a project: diagnosis, repair, automation, the journal, and a person's permissions.
package ops

import "nbs-worker/internal/app/cli/ui"

// Commands are the commands for health and operation.
var Commands = []ui.Command{
	{Name: "allow", Make: newAllowCmd},
	{Name: "watch", Make: newWatchCmd},
	{Name: "pause", Make: newPauseCmd},
	{Name: "unpause", Make: newUnpauseCmd},
	{Name: "events", Make: newEventsCmd},
	{Name: "triage", Make: newTriageCmd},
	{Name: "recover", Make: newRecoverCmd},
	{Name: "doctor", Make: newDoctorCmd},
	{Name: "export", Make: newExportCmd, Plumbing: true},
	{Name: "project", Make: newProjectCmd},
	{Name: "runbook", Make: newRunbookCmd},
}
