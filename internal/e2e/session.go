package e2e

// Session is what session --json tells, as far as tests ask.
type Session struct {
	Handle         string
	SessionID      string `json:"session_id"`
	State          string
	Cause          string
	Running        bool
	StateSource    string `json:"state_source"`
	Desired        string
	Model          string
	RunningModel   string `json:"running_model"`
	PermissionMode string `json:"permission_mode"`
	RecordedPID    int    `json:"recorded_pid"`
	PID            int    // 0: it does not run
	TmuxSession    string `json:"tmux_session"`
	TmuxAlive      bool   `json:"tmux_alive"`
	Cwd            string
	WorksIn        string `json:"works_in"`
	Unsaved        string
	Background     int  `json:"background_tasks"`
	UptimeS        *int `json:"uptime_s"`
	StateAgeMS     *int `json:"state_age_ms"`
	Retry          *struct {
		Attempt, Of int
		InS         int `json:"in_s"`
	}
	Context *struct {
		UsedPercent int `json:"used_percent"`
		LeftPercent int `json:"left_percent"`
		Tokens      int
		Window      int
		Band        string
		Source      string
		AgeS        *int `json:"age_s"`
	}
	Cost *struct {
		USD    float64
		Source string
	}
	Transcript *struct {
		Path  string
		Bytes int
	}
	PreviousSessions []struct {
		SessionID string `json:"session_id"`
		Reason    string
	} `json:"previous_sessions"`
	LastExit *struct {
		Code       int
		Signal     string
		Error      string
		Reason     string
		LastScreen string `json:"last_screen"`
		OOMKills   int    `json:"oom_kills"`
	} `json:"last_exit"`
	Needs *struct {
		Reason, Since string
		Seen          bool
	}
	LastError *struct{ Class, Text, At string } `json:"last_error"`
	Drift     []struct{ Field, Recorded, Live string }
	Advice    []string
}

// IsDead reports if the agent is known not to run.
func (s Session) IsDead() bool { return !s.Running && s.State != "unknown" }

func (m *Team) Session(handle string) (s Session) {
	m.Helper()
	m.Must(One(m.OK("session", handle, "--json"), &s))
	return s
}
