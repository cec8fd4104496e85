package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"
)

// BootTime is when this machine came up, in whole seconds, by its clock as it is now.
func BootTime() (time.Time, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, err
	}
	for line := range bytes.Lines(stat) {
		if text, found := bytes.CutPrefix(line, []byte("btime ")); found {
			seconds, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
			return time.Unix(seconds, 0), err
		}
	}
	return time.Time{}, errors.New("/proc/stat has no btime")
}
