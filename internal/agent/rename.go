package agent

// Rename is in the records of an agent that gets another handle: in the old record until it is removed, and in the new
// one. A rename that was killed is completed from it.
type Rename struct {
	To      Handle  `json:"to,omitempty"`      // in the old record: the new handle
	From    Handle  `json:"from,omitempty"`    // in the new record: the old handle
	Desired Desired `json:"desired,omitempty"` // the state that was wanted before
	Runs    bool    `json:"runs,omitzero"`     // it ran before, and is to run under its new handle
}

// Unfinished reports whether a record is the old one of a rename that has not come to its end.
func (r *Record) Unfinished() bool { return r.Rename != nil && r.Rename.To != "" }

// HalfRenamed says that a rename was not completed, with the command that completes it.
func (r *Record) HalfRenamed() string {
	return "it is being renamed; if that was killed: nbs-worker rename " + string(r.Handle) + " " + string(r.Rename.To)
}

func (r *Rename) validate() error {
	if r == nil {
		return nil
	}
	for _, handle := range []Handle{r.To, r.From} {
		if handle == "" {
			continue
		}
		if _, err := ParseHandle(string(handle)); err != nil {
			return err
		}
	}
	return nil
}
