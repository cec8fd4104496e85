package private

import (
	"os"
	"testing"

	"nbs-worker/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, func([]string) {})) }
