package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sayHowToRepeat prints, for a test that has failed, the command that runs it alone.
func sayHowToRepeat(t testing.TB) {
	if !t.Failed() {
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	folder, err := filepath.Rel(Root(t), dir)
	if err != nil {
		return
	}
	name, _, _ := strings.Cut(t.Name(), "/")
	t.Logf("to repeat: go test ./%s -run '^%s$' -count=1", folder, name)
}
