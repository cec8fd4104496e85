package wire

import (
	"encoding/json"
	"time"
)

// AtHosts is what a command with --hosts prints: first what is here, then each host by its name.
type AtHosts struct {
	Hosts []AtHost `json:"hosts"`
}

// AtHost is what the command printed at one host.
type AtHost struct {
	Host        string          `json:"host"` // empty: this machine
	Unreachable bool            `json:"unreachable"`
	AsOf        *time.Time      `json:"as_of"`     // of the result; null: there is no result
	ExitCode    *int            `json:"exit_code"` // null: the command did not end
	Error       string          `json:"error"`     // why it did not end; empty: it ended
	Result      json.RawMessage `json:"result"`    // the JSON of the command; null: it is not known
}
