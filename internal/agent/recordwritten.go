package agent

// readWrittenRecord reads a record as this program writes it, into an empty one.
func readWrittenRecord(data []byte, r *Record) (ok bool) {
	w := readWritten(string(data))
	r.Schema = w.int("schema")
	r.Handle = Handle(w.string("handle"))
	r.SessionID = SessionID(w.string("session_id"))
	r.Model = Model(w.string("model"))
	r.TmuxSession = w.string("tmux_session")
	r.Started = w.time("started")
	r.InitialPrompt = w.string("initial_prompt")
	r.ProjectRoot = w.string("project_root")
	r.PID = w.int("pid")
	r.Created = w.time("created")
	r.Cwd = w.string("cwd")
	r.PermissionMode = PermissionMode(w.string("permission_mode"))
	r.ClaudeArgs = w.strings("claude_args")
	r.Env = w.stringMap("env")
	r.ConfigDir = w.string("config_dir")
	r.ClaudeVersion = w.string("claude_version")
	r.Desired = Desired(w.string("desired"))
	r.EnvNames = w.strings("env_names")
	r.TranscriptSeen = w.time("transcript_seen")
	w.objects("previous_sessions", func() { r.PreviousSessions = append(r.PreviousSessions, w.previousSession()) })
	w.objects("exits", func() { r.Exits = append(r.Exits, w.exit()) })
	w.object("restart", func() { r.Restart.Policy = w.string("policy") })
	w.object("process", func() { r.Process = w.process() })
	return w.ok()
}

func (w *written) previousSession() PreviousSession {
	return PreviousSession{
		SessionID: SessionID(w.string("session_id")),
		Until:     w.time("until"),
		Reason:    w.string("reason"),
	}
}

func (w *written) exit() Exit {
	return Exit{
		At:          w.time("at"),
		Invocation:  Invocation(w.string("invocation")),
		Code:        w.int("code"),
		Signal:      w.string("signal"),
		HungUp:      w.bool("hung_up"),
		UptimeS:     w.int64("uptime_s"),
		Error:       w.string("error"),
		LastScreen:  w.string("last_screen"),
		EndReason:   w.string("end_reason"),
		OutOfMemory: w.bool("out_of_memory"),
		OOMKills:    w.uint("oom_kills"),
	}
}

func (w *written) process() *Process {
	p := &Process{Invocation: Invocation(w.string("invocation"))}
	p.Identity = Identity{
		Identified: w.identified(),
		BootID:     w.string("boot_id"),
		PIDNS:      w.uint("pid_ns"),
		Host:       w.string("host"),
	}
	w.object("launcher", func() { p.Launcher = w.identified() })
	w.object("tmux", func() { p.Tmux = w.tmuxPlace() })
	w.object("adopted", func() { p.Adopted = w.adoption() })
	p.Transcripts = w.string("transcripts")
	return p
}

func (w *written) identified() Identified {
	return Identified{
		PID:        w.int("pid"),
		StartTicks: w.uint("start_ticks"),
		PidfdInode: w.uint("pidfd_inode"),
	}
}

func (w *written) tmuxPlace() *TmuxPlace {
	return &TmuxPlace{
		Socket:           w.string("socket"),
		Path:             w.string("path"),
		ServerPID:        w.int("server_pid"),
		ServerStartTicks: w.uint("server_start_ticks"),
	}
}

func (w *written) adoption() *Adoption {
	return &Adoption{
		At:           w.time("at"),
		RegisteredMS: w.int64("registered_ms"),
		Pane:         w.string("pane"),
	}
}
