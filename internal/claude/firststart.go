package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What holds up a first start: questions that no person has answered yet.

// FirstStart reports which of Claude's first questions are settled for a start in a folder.
type FirstStart struct {
	Onboarded  bool // its first-time set-up is done
	LoggedIn   bool // it knows an account, a key or another provider
	AsksForKey bool // before it uses the API key of the environment
	Trusted    bool // the folder, or one above it
}

// userConfig holds the used fields of .claude.json.
type userConfig struct {
	Onboarded bool           `json:"hasCompletedOnboarding"`
	Account   jsontext.Value `json:"oauthAccount"`
	APIKey    string         `json:"primaryApiKey"`
	Keys      struct {
		Approved []string `json:"approved"`
	} `json:"customApiKeyResponses"`
	Projects map[string]struct {
		Trusted bool `json:"hasTrustDialogAccepted"`
	} `json:"projects"`
}

// ReadFirstStart reads a [FirstStart] from Claude's configuration and the environment of the start.
func (c Config) ReadFirstStart(folder string, env func(name string) string) (FirstStart, error) {
	var user userConfig
	data, err := os.ReadFile(c.file)
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &user, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FirstStart{}, fail.Errorf(fail.BadInput, "Claude's configuration %s cannot be read: %w", human.Quote(c.file), err)
	}
	first := FirstStart{Onboarded: user.Onboarded, Trusted: isOn(env("CLAUDE_CODE_SANDBOXED"))}
	key := env("ANTHROPIC_API_KEY")
	first.AsksForKey = key != "" && !slices.Contains(user.Keys.Approved, shortKey(key))
	first.LoggedIn = key != "" || user.APIKey != "" || len(user.Account) > 0 && string(user.Account) != "null" || c.hasCredentials() || hasProvider(env)
	for at := realPath(folder); ; at = filepath.Dir(at) {
		first.Trusted = first.Trusted || user.Projects[at].Trusted
		if at == filepath.Dir(at) {
			return first, nil
		}
	}
}

// shortKey returns the part of a key by which Claude remembers it.
func shortKey(key string) string {
	const remembered = 20 // characters
	return key[max(0, len(key)-remembered):]
}

func (c Config) hasCredentials() bool {
	info, err := os.Stat(filepath.Join(c.dir, ".credentials.json"))
	return err == nil && info.Size() > 0
}

// hasProvider reports whether the environment has a token or another provider for claude.
func hasProvider(env func(name string) string) bool {
	names := []string{"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}
	return slices.ContainsFunc(names, func(name string) bool { return isOn(env(name)) })
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
