package standin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// Main runs the stand-in with the arguments of claude (without the program's name) and returns its exit code.
func Main(args []string) int {
	w, err := parseWhims(os.Getenv("NBS_SIM_CLAUDE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if w.leaderDies > 0 {
		return besideTheLeader(w.leaderDies, func() int { return live(args, w) })
	}
	return live(args, w)
}

func live(args []string, w whims) int {
	ctx, stop := lifetime(w)
	defer stop()
	if !pause(ctx, w.startDelay) {
		return endOf(ctx).code
	}
	if w.printError != "" {
		fmt.Fprintln(os.Stderr, w.printError)
		return 1
	}
	code, err := run(ctx, args, w)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

func run(ctx context.Context, args []string, w whims) (int, error) {
	opts, err := parseOptions(args, w)
	if err != nil {
		return 1, err
	}
	if opts.version {
		fmt.Printf("%s (Claude Code)\n", w.version)
		return 0, nil
	}
	s, err := newSession(opts, w)
	if err != nil {
		return 1, err
	}
	if w.spawnChild {
		if err := spawnChild(); err != nil {
			return 1, err
		}
	}
	if opts.print && opts.inputFormat == streamJSON {
		return s.stream(ctx)
	}
	if opts.print {
		return s.print(ctx)
	}
	return s.interactive(ctx)
}

// newSession does what comes before anything is shown: the checks that need no terminal.
func newSession(opts options, w whims) (*session, error) {
	cwd, err := workingDir(w)
	if err != nil {
		return nil, err
	}
	cfg, err := openConfig()
	if err != nil {
		return nil, err
	}
	if opts.bypasses() && os.Geteuid() == 0 && os.Getenv("IS_SANDBOX") != "1" {
		return nil, usageError("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons")
	}
	if opts.sessionID != "" && inUse(cfg.dir, cwd, opts.sessionID) {
		return nil, usageError(fmt.Sprintf("Error: Session ID %s is already in use.", opts.sessionID))
	}
	set, err := loadSettings(opts.settings)
	if err != nil {
		return nil, err
	}
	s := &session{opts: opts, whims: w, cfg: cfg, settings: set, cwd: cwd, key: os.Getenv("ANTHROPIC_API_KEY")}
	s.id = opts.sessionID
	if opts.resume != "" && !opts.fork {
		s.id = opts.resume
	}
	if s.id == "" || w.wrongSessionID {
		s.id = uuid.NewString()
	}
	return s, nil
}

// workingDir is the real path of the working directory, which may have been deleted.
func workingDir(w whims) (string, error) {
	cwd, err := os.Getwd()
	if err == nil {
		cwd, err = filepath.EvalSymlinks(cwd)
	}
	switch {
	case err == nil:
		return cwd, nil
	case !errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("find working directory: %w", err)
	case w.old():
		return "", usageError("ENOENT: Bun could not find a file, and the code that produces this error is missing a better error.")
	}
	return "", usageError("The current directory no longer exists (it was deleted or moved). Start Claude Code from an existing directory.")
}

// spawnChild leaves a process behind that nobody waits for: in a session of its own, with this process's environment.
func spawnChild() error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("spawn child: %w", err)
	}
	cmd := exec.Command(exe)
	cmd.Args = []string{"nbs-sim", "sleep"} // the name decides which program the binary is
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("spawn child: %w", err)
	}
	return cmd.Process.Release()
}

// amnesia reports whether this process takes itself for the child of an agent: a TUI then keeps nothing. The mark does
// not count when it comes from the tmux server, which gives it to every pane when an agent has started the server.
func amnesia(ctx context.Context) bool {
	value := strings.ToLower(os.Getenv("CLAUDE_CODE_CHILD_SESSION"))
	if value == "" || value == "0" || value == "false" {
		return false
	}
	if os.Getenv("TMUX") == "" {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "show-environment", "-g").Output()
	return err != nil || !strings.Contains("\n"+string(out), "\nCLAUDE_CODE_CHILD_SESSION=")
}
