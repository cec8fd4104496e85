package turn

import (
	"os"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 8*time.Minute)) }
