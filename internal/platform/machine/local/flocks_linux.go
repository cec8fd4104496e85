package local

import (
	"os"
	"strconv"
	"strings"
)

func (kernel) Flocks() (map[string]int, error) {
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil, err
	}
	return parseLocks(string(text)), nil
}

// parseLocks reads lines such as "1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF". A line with an arrow is about a
// process that waits for the lock.
func parseLocks(text string) map[string]int {
	const words = 8
	holders := map[string]int{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != words || f[1] != "FLOCK" {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil {
			holders[f[5]] = pid
		}
	}
	return holders
}
