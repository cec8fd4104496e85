package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// reply is an answer of the Messages API; raw is what goes into the transcript.
type reply struct {
	raw        json.RawMessage
	Content    []content `json:"content"`
	StopReason string    `json:"stop_reason"`
	Usage      usage     `json:"usage"`
}

type content struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input struct {
		Command     string `json:"command"`
		Description string `json:"description"`
		Background  bool   `json:"run_in_background"`
	} `json:"input"`
}

type usage struct {
	InputTokens   int `json:"input_tokens"`
	OutputTokens  int `json:"output_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
}

// apiError is an answer with an error status.
type apiError struct {
	status  int
	kind    string
	message string
}

func (e apiError) Error() string { return fmt.Sprintf("%d %s", e.status, e.message) }

// final reports whether another attempt is pointless.
func (e apiError) final() bool { return e.status < 500 && e.status != 401 && e.status != 429 }

// endpoint refuses everything but loopback: this program must not reach the outside even where it could.
func endpoint() (string, error) {
	base := os.Getenv("ANTHROPIC_BASE_URL")
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("ANTHROPIC_BASE_URL: %w", err)
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("ANTHROPIC_BASE_URL: %q is not on loopback", base)
	}
	return base + "/v1/messages?beta=true", nil
}

// ask sends the conversation once.
func (s *session) ask(ctx context.Context) (reply, error) {
	target, err := endpoint()
	if err != nil {
		return reply{}, err
	}
	request := map[string]any{"model": s.model, "max_tokens": 32000, "messages": s.tr.conversation()}
	if s.opts.systemPrompt != "" {
		request["system"] = s.opts.systemPrompt
	}
	body, err := json.Marshal(request)
	if err != nil {
		return reply{}, fmt.Errorf("ask: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("ask: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", s.key)
	req.Header.Set("X-Claude-Code-Session-Id", s.id)
	req.Close = true // no idle connection: nothing is left that could wake an idle agent
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, fmt.Errorf("ask: %w", err)
	}
	defer resp.Body.Close()
	s.limits = limitsIn(resp.Header)
	return readReply(resp)
}

func readReply(resp *http.Response) (reply, error) {
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, fmt.Errorf("ask: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		var e struct {
			Error struct{ Type, Message string }
		}
		_ = json.Unmarshal(data, &e) // without a body the status says enough
		return reply{}, apiError{resp.StatusCode, e.Error.Type, e.Error.Message}
	}
	r := reply{raw: data}
	if err := json.Unmarshal(data, &r); err != nil {
		return reply{}, fmt.Errorf("ask: %w", err)
	}
	return r, nil
}

// askAgain is ask with the real program's patience: ten more attempts (CLAUDE_CODE_MAX_RETRIES), further and further apart.
func (s *session) askAgain(ctx context.Context, waiting func(e apiError, attempt, of int)) (reply, error) {
	retries := 10
	if n, err := strconv.Atoi(os.Getenv("CLAUDE_CODE_MAX_RETRIES")); err == nil {
		retries = n
	}
	delay := 600 * time.Millisecond
	for attempt := 1; ; attempt++ {
		r, err := s.ask(ctx)
		var failed apiError
		if err == nil || !errors.As(err, &failed) || failed.final() || attempt > retries {
			return r, err
		}
		waiting(failed, attempt, retries)
		if !pause(ctx, delay) {
			return reply{}, ctx.Err()
		}
		delay = min(2*delay, 35*time.Second)
	}
}
