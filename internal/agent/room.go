package agent

// Room is how many agents a project may have; 0: any number.
type Room struct {
	Agents  int `json:"agents,omitempty"`
	Running int `json:"running,omitempty"` // those that should run
}
