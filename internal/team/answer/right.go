package answer

import (
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/caller"
)

// asked returns what an answer allows.
func asked(r *requests.Request, given *requests.Answer) caller.Granted {
	switch {
	case !given.Allow || len(questionsOf(r)) > 0:
		return caller.Granted{}
	case len(given.Rules) > 0:
		return caller.Granted{What: r.Tool + " for ever", Any: true}
	}
	switch r.Tool {
	case "Edit", "MultiEdit", "Write":
		return caller.Granted{What: r.Tool, Edit: inputOf(r).text("file_path")}
	case "NotebookEdit":
		return caller.Granted{What: r.Tool, Edit: inputOf(r).text("notebook_path")}
	}
	return caller.Granted{What: r.Tool, Any: true}
}
