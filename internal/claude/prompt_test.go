package claude

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

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
