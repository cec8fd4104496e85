package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Machine is where a result was taken.
type Machine struct {
	Cores  int    `json:"cores"`
	CPU    string `json:"cpu"`
	Kernel string `json:"kernel"`
	Tmux   string `json:"tmux"`
	Go     string `json:"go"`
	Load   string `json:"load"`   // averages of 1, 5 and 15 minutes, before the run
	Others int    `json:"others"` // processes that ran before: a verb that reads all of /proc reads them too
}

// thisMachine describes the machine as it is now; what cannot be read stays empty.
func thisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Kernel: shortRelease(firstLine("/proc/sys/kernel/osrelease"))}
	if fields := strings.Fields(firstLine("/proc/loadavg")); len(fields) > 2 {
		m.Load = strings.Join(fields[:3], " ")
	}
	others, _ := filepath.Glob("/proc/[0-9]*") // the pattern is constant and well formed
	m.Others = len(others)
	if out, err := exec.Command("tmux", "-V").Output(); err == nil {
		m.Tmux = strings.TrimSpace(string(out))
	}
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(cpuinfo)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}

// String is one line.
func (m Machine) String() string {
	cpu := ""
	if m.CPU != "" {
		cpu = " (" + m.CPU + ")"
	}
	busy := ""
	if m.busy() {
		busy = " (busy: times are longer than they need to be)"
	}
	return fmt.Sprintf("%d cores%s, Linux %s, %s, %s; before the run load %s%s, %d processes", m.Cores, cpu, m.Kernel, m.Tmux, m.Go, m.Load, busy, m.Others)
}

// shortRelease is a kernel's release less what its builder appended: 6.1 of 6.1.0-18-amd64.
func shortRelease(release string) string {
	parts := strings.SplitN(release, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// busy reports whether other programs used the cores when the run began.
func (m Machine) busy() bool {
	first, _, _ := strings.Cut(m.Load, " ")
	load, err := strconv.ParseFloat(first, 64)
	return err == nil && load > float64(m.Cores)/2
}

func firstLine(path string) string {
	data, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}
