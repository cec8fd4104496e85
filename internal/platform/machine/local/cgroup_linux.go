package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func (kernel) Cgroup(pid int) (string, error) {
	text, err := readProc(pid, "cgroup")
	return parseCgroup(text), err
}

// parseCgroup prefers the one hierarchy of version 2, then systemd's own of version 1.
func parseCgroup(text []byte) string {
	path := ""
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte{'\n'}) {
		if rest, ok := bytes.CutPrefix(line, []byte("0::")); ok && (path == "" || len(rest) > 1) {
			path = string(rest)
		}
		if _, rest, ok := bytes.Cut(line, []byte(":name=systemd:")); ok && len(path) < 2 {
			path = string(rest)
		}
	}
	return path
}

// oomFile returns the file in which the kernel counts the processes that it killed in the memory cgroup of a process,
// or "" if it does not exist.
func oomFile(pid int) string {
	group, v2 := memoryCgroup(pid)
	folder := cgroupFolder(group, v2)
	switch {
	case group == "" || folder == "":
		return ""
	case !v2:
		return filepath.Join(folder, "memory.oom_control")
	}
	return filepath.Join(folder, "memory.events.local") // memory.events counts those of the cgroups inside, too
}

// memoryCgroup reads the memory cgroup of a process from /proc/<pid>/cgroup; lines are
// "4:memory:/path" in v1 and "0::/path" in v2. Where both are mounted, memory is in v1.
func memoryCgroup(pid int) (group string, v2 bool) {
	text, err := os.ReadFile(oomPath(fmt.Sprintf("/proc/%d/cgroup", pid)))
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(fields) < 3:
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			return fields[2], false
		case fields[1] == "":
			group, v2 = fields[2], true
		}
	}
	return group, v2
}

// cgroupFolder returns the folder in which a cgroup can be seen, or "".
func cgroupFolder(group string, v2 bool) string {
	mounts, err := os.ReadFile(oomPath("/proc/self/mountinfo"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(mounts)) {
		mount, filesystem, found := strings.Cut(line, " - ")
		fields, kind := strings.Fields(mount), strings.Fields(filesystem)
		if !found || len(fields) < 5 || len(kind) < 3 || !holdsMemory(kind, v2) {
			continue
		}
		// In a container the mount may show only a part of the tree.
		inside, below := strings.CutPrefix(group, strings.TrimSuffix(unescape(fields[3]), "/"))
		if below && (inside == "" || inside[0] == '/') && !strings.Contains(inside, "/..") {
			return filepath.Join(unescape(fields[4]), inside)
		}
	}
	return ""
}

// holdsMemory reports whether a mount has the cgroups that limit memory. kind is type, source and options.
func holdsMemory(kind []string, v2 bool) bool {
	if v2 {
		return kind[0] == "cgroup2"
	}
	return kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "memory")
}

// unescape undoes mountinfo's escapes for characters that would end a field.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}
