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
		return caller.Granted{What: r.Tool + " with a rule", Any: true}
	}
	file := edited(r)
	return caller.Granted{What: r.Tool, Edit: file, Any: file == ""}
}

// edited returns the only file that a request changes; "" if it does something else, or the file is unknown.
func edited(r *requests.Request) string {
	switch r.Tool {
	case "Edit", "MultiEdit", "Write":
		return inputOf(r).text("file_path")
	case "NotebookEdit":
		return inputOf(r).text("notebook_path")
	}
	return ""
}
