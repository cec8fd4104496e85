package faults

// Place is where an agent's steps are seen.
type Place struct {
	NBS      string // the project's .nbs
	Launches string // where launch files are handed over
	Config   string // Claude's configuration
	Tmux     string // where the sockets of tmux are
	Handle   string
}
