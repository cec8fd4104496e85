package telegram

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestReadToken(t *testing.T) {
	write := func(mode os.FileMode, text string) string {
		file := filepath.Join(t.TempDir(), "token")
		rig.Must(t, os.WriteFile(file, []byte(text), mode))
		return file
	}
	t.Setenv(TokenVariable, "")
	for name, test := range map[string]struct {
		file string
		kind fail.Kind
	}{
		"good":             {write(0o600, "123:abc_DEF-\n"), 0},
		"read by others":   {write(0o644, "123:abc"), fail.BadInput},
		"no token":         {write(0o600, "secret/../x"), fail.BadInput},
		"empty":            {write(0o600, "\n"), fail.NotFound},
		"missing":          {filepath.Join(t.TempDir(), "none"), fail.NotFound},
		"a folder":         {t.TempDir(), fail.BadInput},
		"no file, no word": {"", fail.NotFound},
	} {
		token, err := ReadToken(test.file)
		switch {
		case test.kind == 0 && (err != nil || token.text != "123:abc_DEF-"):
			t.Errorf("%s: %q, %v", name, token.text, err)
		case test.kind != 0 && (err == nil || fail.KindOf(err) != test.kind):
			t.Errorf("%s: %v", name, err)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error tells the content: %v", name, err)
		}
	}
	t.Setenv(TokenVariable, "5:x")
	token, err := ReadToken("")
	rig.Check(t, err == nil && token.text == "5:x" && token.String() == "***", "of the variable: %v", err)
}
