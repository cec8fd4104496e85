package wire

import (
	"encoding/json"
	"time"

	"nbs-worker/internal/host"
	"nbs-worker/internal/team/doctor"
)

// AtHosts is what a command with --hosts prints: first what is here, then each host by its name.
type AtHosts struct {
	Hosts []AtHost `json:"hosts"`
}

// AtHost is what the command printed at one host.
type AtHost struct {
	Host        string          `json:"host"` // here: this machine
	Unreachable bool            `json:"unreachable"`
	AsOf        *time.Time      `json:"as_of"`     // of the result; null: there is no result
	ExitCode    *int            `json:"exit_code"` // null: the command did not end
	Error       string          `json:"error"`     // why it did not end; empty: it ended
	Result      json.RawMessage `json:"result"`    // the JSON of the command; null: it is not known
}

// Host is one of the user's hosts.
type Host struct {
	Name        string `json:"name"`
	Destination string `json:"destination"`       // as ssh takes it
	Folder      string `json:"folder"`            // of the project there; a relative one is below the home folder
	Program     string `json:"program,omitempty"` // nbs-worker there; missing: that of its PATH

	Limits *HostLimits `json:"limits,omitempty"` // missing: none
}

// HostLimits bound how many agents commands of this machine start at a host.
type HostLimits struct {
	Agents  int `json:"agents,omitempty"`  // of the project there
	Running int `json:"running,omitempty"` // those that should run
}

// NewHost converts a host.
func NewHost(h host.Host) Host {
	out := Host{Name: h.Name, Destination: h.Destination, Folder: h.Folder, Program: h.Program}
	if limits := HostLimits(h.Limits); limits != (HostLimits{}) {
		out.Limits = &limits
	}
	return out
}

// HostCheckup is what was found at one host.
type HostCheckup struct {
	Host   string    `json:"host"`
	Level  string    `json:"level"` // of the worst finding
	Checks []Finding `json:"checks"`
}

// NewHostCheckup converts the checkup of a host.
func NewHostCheckup(h host.Host, c doctor.Checkup) HostCheckup {
	all := NewCheckup(c)
	return HostCheckup{Host: h.Name, Level: all.Level, Checks: all.Checks}
}
