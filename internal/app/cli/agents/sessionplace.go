package agents

import (
	"fmt"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

func pidLine(v inspect.View) string {
	switch {
	case v.Record.PID == 0:
		return "none yet"
	case v.Status.SamePID && v.Usage != nil:
		return fmt.Sprintf("%d, running (verified); %s, %s resident, %s of CPU, %s written", v.Record.PID,
			human.Count(v.Usage.Processes, "process"), human.Bytes(v.Usage.RSS), seconds(v.Usage.CPUSeconds), human.Bytes(v.Usage.Written))
	case v.Status.State == agent.Unknown:
		return fmt.Sprintf("%d, unknown from here", v.Record.PID)
	default:
		return fmt.Sprintf("%d, gone", v.Record.PID)
	}
}

func tmuxLine(v inspect.View) string {
	switch {
	case fail.KindOf(v.Err) == fail.Unfit && v.Err != nil:
		return v.Record.TmuxSession + ", unknown: its server cannot be reached"
	case v.Err != nil:
		return v.Record.TmuxSession + ", unknown: tmux did not answer"
	case v.Pane != nil:
		return v.TmuxSession() + ", there"
	case v.Status.SamePID:
		return "not in tmux"
	default:
		return v.Record.TmuxSession + ", not there"
	}
}

func folderLine(v inspect.View) string {
	folder := v.Record.LaunchCwd()
	switch {
	case v.WorksIn == "":
		return folder
	case slices.ContainsFunc(v.Drift, func(d observe.Drift) bool { return d.Field == "cwd" }):
		return folder + "; it works in " + human.Quote(v.WorksIn)
	default:
		return folder + "; its session has moved to " + human.Quote(v.WorksIn)
	}
}

func uptimeLine(s agent.Status) string {
	if !s.SamePID {
		return "-"
	}
	return s.Uptime.Truncate(time.Second).String()
}
