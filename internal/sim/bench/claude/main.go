// A claude that costs next to nothing: it reports when its first instruction ran, writes what a supervisor looks for (a
// registry entry, a transcript with some turns), and sleeps until a signal ends it.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	version = "2.1.332"
	turns   = 20 // of the transcript: about 40 kB
)

func main() {
	ring(os.Getenv("NBS_BENCH_BELL"))
	os.Exit(run())
}

// ring sends the monotonic time to the socket on which the bench listens.
func ring(bell string) {
	var now unix.Timespec
	if bell == "" || unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return
	}
	unix.CloseOnExec(fd)
	defer unix.Close(fd)
	message := binary.NativeEndian.AppendUint64(nil, uint64(now.Nano()))
	_ = unix.Sendto(fd, message, 0, &unix.SockaddrUnix{Name: bell}) // an error: the bench fails when no message comes
}

func run() int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	entry, err := settle(sessionID(os.Args), os.Getenv("CLAUDE_CONFIG_DIR"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print("\x1b[2J\x1b[H❯ \n")
	s := <-signals
	_ = os.Remove(entry)
	return 128 + int(s.(syscall.Signal))
}

func sessionID(args []string) string {
	for i, arg := range args[:len(args)-1] {
		if arg == "--session-id" || arg == "--resume" {
			return args[i+1]
		}
	}
	return ""
}

// settle writes the transcript and then the registry entry, whose name it returns.
func settle(id, config string) (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if err := writeTranscript(id, config, cwd); err != nil {
		return "", err
	}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return "", err
	}
	afterName := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	data, err := json.Marshal(map[string]any{
		"pid": os.Getpid(), "sessionId": id, "cwd": cwd, "startedAt": time.Now().UnixMilli(), "procStart": afterName[19],
		"version": version, "kind": "interactive", "entrypoint": "cli", "name": "bench", "status": "idle",
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(config, "sessions", fmt.Sprintf("%d.json", os.Getpid()))
	return path, replace(path, data)
}

func writeTranscript(id, config, cwd string) error {
	slug := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(cwd)
	path := filepath.Join(config, "projects", slug, id+".jsonl")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	var text strings.Builder
	line := func(kind string, message any) error {
		data, err := json.Marshal(map[string]any{
			"type": kind, "uuid": fmt.Sprintf("%s-%d", id, text.Len()), "isSidechain": false, "sessionId": id, "cwd": cwd,
			"version": version, "entrypoint": "cli", "timestamp": time.Now().UTC().Format(time.RFC3339), "message": message,
		})
		text.Write(append(data, '\n'))
		return err
	}
	for i := range turns {
		if err := line("user", map[string]any{"role": "user", "content": strings.Repeat("What is next? ", 40)}); err != nil {
			return err
		}
		if err := line("assistant", map[string]any{
			"role": "assistant", "model": "claude-opus-5-5", "content": strings.Repeat("This is next. ", 60),
			"usage": map[string]int{"input_tokens": 10, "cache_read_input_tokens": 1000 * (i + 1)},
		}); err != nil {
			return err
		}
	}
	return replace(path, []byte(text.String()))
}

// replace writes a file so that a reader sees all of it or none.
func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.tmp.%d", path, os.Getpid())
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
