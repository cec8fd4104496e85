package agents

import (
	"os"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
)

func TestMain(m *testing.M) { os.Exit(uitest.Apart(m)) }
