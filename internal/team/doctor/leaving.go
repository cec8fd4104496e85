package doctor

import (
	"context"
	"os"

	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/team/observe"
)

// leaving finds agents whose move to another machine, or from one, was not completed. One that goes on has the verb lock.
func (d *examination) leaving(context.Context) (all findings) {
	const unstarted = "until then it cannot be started"
	for _, row := range d.known() {
		r := &row.Record
		if _, atWork := observe.VerbAtWork(d.project.Machine, d.project.Store, r.Handle, d.project.Machine.Program(os.Getpid())); atWork {
			continue
		}
		handle := string(r.Handle)
		switch {
		case r.IsLeaving():
			all.add(Warning, "the move of "+handle+" to "+r.Move.To+" was not completed", unstarted, "to complete it: "+r.Move.Command, "to keep it here, if it has not left: nbs-worker move "+handle+" --cancel")
		case r.Move != nil && r.Move.Runs:
			all.add(Warning, handle+" has moved here, and was not started", "it ran before", "nbs-worker resume "+handle)
		}
	}
	notes, err := d.project.Store.Moves().All()
	if err != nil {
		return found(Warning, "the notes of moves cannot be read: "+oneLine(err), "where an agent is may be unknown")
	}
	known := map[string]bool{}
	for _, n := range notes {
		known[n.ID] = n.State != moves.Given
		if n.State == moves.Left && d.isGone(&n) {
			all.add(Warning, string(n.Handle)+" has left for "+n.Place+", and is not known to have arrived", "it runs nowhere until it has", "to complete the move: "+n.Command,
				"if "+n.Place+" is lost for good: nbs-worker move "+string(n.Handle)+" --cancel --lost")
		}
	}
	waiting, _ := d.project.Store.Moves().Waiting() // doctor says elsewhere that the folder cannot be read
	for _, w := range waiting {
		if known[w[0]] {
			continue
		}
		known[w[0]] = true
		label, err := d.project.Store.Moves().Label(w[0], w[1])
		if err != nil {
			continue // it has arrived since
		}
		all.add(Note, label.Handle+" is on its way from "+label.From+", and has not arrived", "it is there, or it runs nowhere until it has arrived",
			"to complete the move, where it was begun: "+label.Command)
	}
	return all
}

// isGone reports whether the agent of a note has no record here that says the same.
func (d *examination) isGone(n *moves.Note) bool {
	r, err := d.project.Store.Load(n.Handle)
	return err != nil || r.Move == nil || r.Move.ID != n.ID
}
