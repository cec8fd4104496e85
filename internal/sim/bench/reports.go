package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What claude writes to a hook and to the status line's command when a turn has ended.
const (
	hookInput = `{"session_id":"%s","transcript_path":"/x/y.jsonl","cwd":"/x","prompt_id":"55d1d9e2-9887-4006-911d-6b45ab62b3fd",
"permission_mode":"default","effort":{"level":"medium"},"hook_event_name":"Stop","stop_hook_active":false,
"last_assistant_message":"OK, I will remember 42.","background_tasks":[],"session_crons":[]}`
	statusLineInput = `{"session_id":"%s","transcript_path":"/x/y.jsonl","cwd":"/x","model":{"id":"claude-sonnet-5","display_name":"Sonnet 5"},
"workspace":{"current_dir":"/x","project_dir":"/x","added_dirs":[]},"cost":{"total_cost_usd":0.858,"total_duration_ms":30597},
"context_window":{"context_window_size":200000,"current_usage":{"input_tokens":10,"output_tokens":9,"cache_creation_input_tokens":32067,
"cache_read_input_tokens":0},"used_percentage":16,"remaining_percentage":84},"exceeds_200k_tokens":false}`
)

// compareReports compares the verbs that claude calls, and for which a turn waits, with a program that does nothing.
func (w *world) compareReports(ctx context.Context, effort Effort) ([]Pair, error) {
	var record struct {
		SessionID string `json:"session_id"`
		Process   struct {
			Invocation string `json:"invocation"`
		} `json:"process"`
	}
	file := filepath.Join(w.Project, ".nbs", "sessions", handle(0)+".json")
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &record)
	}
	if err != nil {
		return nil, err
	}
	env := []string{"NBS_HANDLE=" + handle(0), "NBS_ROOT=" + w.Project, "NBS_INVOCATION_ID=" + record.Process.Invocation}
	var pairs []Pair
	remembered := append([]byte(`{"memory":true,`), data[1:]...)
	for _, call := range []struct {
		verb, input, also string
		record            []byte
	}{{"hook", hookInput, "", data}, {"hook", hookInput, ", memory on", remembered}, {"statusline", statusLineInput, "", data}} {
		if err := os.WriteFile(file, call.record, 0o600); err != nil {
			return nil, err
		}
		pair := Pair{Name: "`" + call.verb + "`" + call.also, Beside: "empty Go program", Budget: Budget{Plus: 4}}
		said := w.said(call.verb, fmt.Sprintf(call.input, record.SessionID), env)
		if pair.Floor, pair.Ours, err = interleave(ctx, effort, w.timed("", filepath.Join(w.tools, "empty")), said); err != nil {
			return nil, fmt.Errorf("measure %s: %w", call.verb, err)
		}
		pairs = append(pairs, pair)
	}
	return pairs, w.checkReported()
}

// said samples a verb that is called as claude calls it.
func (w *world) said(verb, input string, env []string) sampler {
	return func(ctx context.Context) (time.Duration, error) {
		cmd := w.command(ctx, w.nbs(verb)...)
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], env...)
		cmd.Stdin = strings.NewReader(input)
		took, _, err := measure(cmd)
		return took, err
	}
}

// checkReported checks that the verbs recorded what they were given.
func (w *world) checkReported() error {
	text, err := os.ReadFile(filepath.Join(w.Project, ".nbs", "status", handle(0)+".json"))
	if err == nil {
		_, err = os.Stat(filepath.Join(w.Project, ".nbs", "memory", "spool")) // where a hook announces a turn to the memory
	}
	if err == nil && (!strings.Contains(string(text), `"Stop"`) || !strings.Contains(string(text), "32077")) {
		err = fmt.Errorf("the report has not what was said: %s", text)
	}
	return err
}
