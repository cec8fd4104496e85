package claude

import (
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestCheckPromptTakes(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{
		"", "Hello.", "-d", "--model haiku", "$(touch F)", "x;", "/compact", "/review 12", "exit now, please", "the /exit command", "a\tb\nc\r\n",
		"/home/user/plan.md says it", "\u2713 \U0001f600", strings.Repeat("x", promptLimit),
	} {
		err := CheckPrompt(prompt)
		rig.Check(t, err == nil, "CheckPrompt(%.40q): %v", prompt, err)
	}
}

func TestCheckPromptRefuses(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{
		"/exit", "/quit", " /exit\n", "exit", "quit\n", ":q!", "/clear", "/clear now", "/clear\tnow", "/clear\nnow", "/resume x", "/branch", "/logout",
		"/background go on", "/bg", "/teleport x", "/tp x", "/desktop", "/app", "/cd /srv",
		"a\x00b", "\xff", strings.Repeat("x", promptLimit+1), "\x1b[31mred", "a\x03", "a\x7f", "\u009b2J", "form\ffeed",
	} {
		err := CheckPrompt(prompt)
		wantKind(t, "CheckPrompt", err, fail.BadInput)
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("the message has %d bytes", len(err.Error()))
		}
	}
}

func TestIsCommand(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]bool{
		"/export /tmp/x": true, " \n\t/evil": true, "!id": true, "# from now on": true, "\ufeff/export": true, "\u200b!id": true,
		"": false, "  ": false, "Read /etc/hostname and #5!": false, "-d": false, "\u2713 /x": false,
	} {
		rig.Equal(t, IsCommand(prompt), want, "IsCommand(%q)", prompt)
	}
}

func TestNamesFile(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]bool{
		"@.env": true, "say @/etc/hostname please": true, "say\n@x": true, `see "@x"`: true, "(@x)": true, "[@x]": true, `@"two words"`: true,
		"say\u00a0@x": true, "\u3002@x": true, "'@x'": true, "@@x": true,
		"": false, "@": false, "a @ b": false, "mail to me@example.com": false, "node_modules/@types": false, "\u00e9@x": false, "at @": false,
	} {
		rig.Equal(t, NamesFile(prompt), want, "NamesFile(%q)", prompt)
	}
}
