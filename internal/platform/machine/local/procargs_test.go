package local

import (
	"encoding/binary"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// procArgs is an answer to kern.procargs2.
func procArgs(count uint32, text string) []byte {
	return append(binary.NativeEndian.AppendUint32(nil, count), text...)
}

func TestParseProcArgs(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		data []byte
		want [3]string // program, arguments, environment
	}{
		"all":                {procArgs(3, "/bin/claude\x00\x00\x00claude\x00--model\x00\x00A=1\x00B=x y\x00\x00\x00"), [3]string{"/bin/claude", "claude\x00--model\x00\x00", "A=1\x00B=x y\x00"}},
		"no padding":         {procArgs(1, "/bin/sh\x00sh\x00A=\x00"), [3]string{"/bin/sh", "sh\x00", "A=\x00"}},
		"no environment":     {procArgs(2, "/bin/sh\x00\x00sh\x00-c\x00"), [3]string{"/bin/sh", "sh\x00-c\x00", ""}},
		"an empty one":       {procArgs(1, "/bin/sh\x00sh\x00\x00\x00"), [3]string{"/bin/sh", "sh\x00", ""}},
		"no arguments":       {procArgs(0, "/bin/sh\x00"), [3]string{"/bin/sh", "", ""}},
		"fewer than counted": {procArgs(9, "/bin/sh\x00sh\x00"), [3]string{}},
		"cut short":          {procArgs(1, "/bin/sh"), [3]string{}},
		"nothing":            {nil, [3]string{}},
	} {
		s, err := parseProcArgs(c.data)
		got := [3]string{s.program, string(s.arguments), string(s.environ)}
		rig.Check(t, got == c.want && (err == nil) == (c.want[0] != ""), "%s: %q, %v", what, got, err)
	}
}
