package memory_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
)

func TestRedactReplacesSecrets(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("aB3", n)[:n] }
	for text, want := range map[string]string{
		"the key is sk-ant-api03-" + x(20) + ".":  "the key is [secret].",
		"sk-proj-" + x(40):                        "[secret]",
		"git clone https://u:" + x(8) + "@host/x": "git clone https://u:[secret]@host/x",
		"postgres://app:p%40ss@db:5432/x":         "postgres://app:[secret]@db:5432/x",
		"redis://:hunter2hunter2@cache":           "redis://:[secret]@cache",
		"ghp_" + x(36):                            "[secret]",
		"github_pat_" + x(60):                     "[secret]",
		"glpat-" + x(20):                          "[secret]",
		"AKIA" + strings.Repeat("A", 16):          "[secret]",
		"AIza" + x(35):                            "[secret]",
		"ya29." + x(30):                           "[secret]",
		"xoxb-1234567890-abcdef":                  "[secret]",
		"sk_live_" + x(24):                        "[secret]",
		"npm_" + x(36):                            "[secret]",
		"hf_" + x(34):                             "[secret]",
		"bot 123456789:AA" + x(33):                "bot [secret]",
		"eyJ" + x(20) + "." + x(20) + "." + x(20): "[secret]",
		"Authorization: Bearer " + x(12):          "Authorization: Bearer [secret]",
		`curl -H "Authorization: Basic dXNlcjpw"`: `curl -H "Authorization: Basic [secret]"`,
		"bearer " + x(20):                         "bearer [secret]",
		"export API_KEY=" + x(10):                 "export API_KEY=[secret]",
		`"client_secret": "` + x(10) + `",`:       `"client_secret": "[secret]",`,
		"DB_PASSWORD='correct horse'":             "DB_PASSWORD='[secret] horse'",
		"password: hunter2hunter2 and more":       "password: [secret] and more",
		"aws_secret_access_key = " + x(40):        "aws_secret_access_key = [secret]",
		`{"content":"\nghp_` + x(36) + `\tsk-ant-api03-` + x(20) + `"}`:  `{"content":"\n[secret]\t[secret]"}`,
		`{"content":"x\nAuthorization: Bearer ` + x(12) + `"}`:           `{"content":"x\nAuthorization: Bearer [secret]"}`,
		`{"content":"{\"client_secret\": \"` + x(10) + `\", \"a\": 1}"}`: `{"content":"{\"client_secret\": \"[secret]", \"a\": 1}"}`,
		"SMTP_PASS=" + x(10): "SMTP_PASS=[secret]",
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nb3Bl\n-----END PGP PRIVATE KEY BLOCK-----\nrest": "[secret]\nrest",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\nrest":     "[secret]\nrest",
		"-----BEGIN PRIVATE KEY-----\ncut short":                                                 "[secret]",
		"two: ghp_" + x(36) + " ghp_" + x(36):                                                    "two: [secret] [secret]",
	} {
		rig.Equal(t, memory.Redact(text), want, "%q", text)
		rig.Equal(t, memory.Redact(want), want, "%q again", text)
	}
}

// What stands for a secret may be longer than it: what was valid before can be exported and imported after.
func TestRedactedIsValid(t *testing.T) {
	t.Parallel()
	tooLong := func(limit int) string { return strings.Repeat("é", (limit-12)/2) + "token=abcdef" }
	o := memory.Observation{
		Type: memory.Fix, Title: tooLong(memory.TitleLimit), Narrative: tooLong(memory.NarrativeLimit),
		Facts: []string{tooLong(memory.FactLimit)}, Files: []string{tooLong(memory.FactLimit)},
	}
	rig.Must(t, o.Validate())
	rig.Must(t, o.Redacted().Validate())
	rig.Check(t, !strings.Contains(o.Redacted().Narrative, "abcdef"), "%s", o.Redacted().Narrative)
}

// What is no secret stays: a memory of marks is of no use.
func TestRedactLeavesTheRest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "the token bucket is full", "secrets are in the vault", "password reset works", "tokens: 500000", "a token: yes",
		"https://example.org:8080/a@b", "git@github.com:x/y.git", "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11",
		"commit 8d79896f0a1b2c3d4e5f60718293a4b5c6d7e8f9", "sk-1 and task-force", "internal/memory/redact.go", "-----BEGIN CERTIFICATE-----\nMIIB",
		"max_tokens=4096", "see the file disk-usage-of-all-the-agents-of-the-team.md",
	} {
		rig.Equal(t, memory.Redact(text), text, "%q", text)
	}
}

func TestParseType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]memory.Type{"fix": memory.Fix, "Open-End": memory.OpenEnd, "open_end": memory.OpenEnd} {
		rig.Gives(t, want, "%s", text)(memory.ParseType(text))
	}
	_, err := memory.ParseType("poem")
	rig.Check(t, err != nil && strings.Contains(err.Error(), "decision, fix, discovery, change, open_end, question"), "%v", err)
}
