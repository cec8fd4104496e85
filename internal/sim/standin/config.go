package standin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// config is the configuration folder and what .claude.json says in it.
type config struct {
	dir  string
	file string
	data map[string]any
}

// openConfig finds the folder as the real program does: CLAUDE_CONFIG_DIR, else ~/.claude with the file beside it.
func openConfig() (*config, error) {
	c := &config{dir: os.Getenv("CLAUDE_CONFIG_DIR"), data: map[string]any{}}
	c.file = filepath.Join(c.dir, ".claude.json")
	if c.dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find configuration: %w", err)
		}
		c.dir, c.file = filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json")
	}
	data, err := os.ReadFile(c.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if err := json.Unmarshal(data, &c.data); err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", c.file, err)
	}
	return c, nil
}

func (c *config) onboarded() bool {
	done, _ := c.data["hasCompletedOnboarding"].(bool)
	return done
}

// trusts reports whether the user trusted this folder or one above it.
func (c *config) trusts(cwd string) bool {
	projects, _ := c.data["projects"].(map[string]any)
	for dir := cwd; ; dir = filepath.Dir(dir) {
		project, _ := projects[dir].(map[string]any)
		if trusted, _ := project["hasTrustDialogAccepted"].(bool); trusted {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func (c *config) trust(cwd string) error {
	project := child(child(c.data, "projects"), cwd)
	project["hasTrustDialogAccepted"] = true
	return c.save()
}

// keyAnswer returns the user's answer about an API key: "approved", "rejected" or "" when never asked.
func (c *config) keyAnswer(key string) string {
	answers := child(c.data, "customApiKeyResponses")
	for _, answer := range []string{"approved", "rejected"} {
		list, _ := answers[answer].([]any)
		if slices.Contains(list, any(keyTail(key))) {
			return answer
		}
	}
	return ""
}

func (c *config) answerKey(key, answer string) error {
	answers := child(c.data, "customApiKeyResponses")
	list, _ := answers[answer].([]any)
	answers[answer] = append(list, keyTail(key))
	return c.save()
}

// keyTail is how a key is remembered: its last 20 characters.
func keyTail(key string) string { return key[max(0, len(key)-20):] }

func child(parent map[string]any, name string) map[string]any {
	m, ok := parent[name].(map[string]any)
	if !ok {
		m = map[string]any{}
		parent[name] = m
	}
	return m
}

func (c *config) save() error {
	data, err := json.MarshalIndent(c.data, "", "  ")
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return replaceFile(c.file, data, 0o600)
}

// replaceFile writes a file so that a reader sees the old content or the new.
func replaceFile(name string, data []byte, perm fs.FileMode) error {
	temp := fmt.Sprintf("%s.tmp.%d", name, os.Getpid())
	if err := os.WriteFile(temp, data, perm); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(temp, name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
