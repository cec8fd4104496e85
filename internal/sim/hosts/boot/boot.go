// Package boot is the first process of a simulated host: what the kernel and init do there when it is switched on. It
// runs in namespaces of its own for processes, mounts and the host's name, which end with it.
package boot

import (
	"encoding/json"
	"fmt"
	"os"
)

// Machine is what a host is made of.
type Machine struct {
	Name     string     `json:"name"`
	Files    []File     `json:"files"`    // what stands there in the place of this machine's files
	Empty    []string   `json:"empty"`    // folders that are empty after each boot
	Folders  []string   `json:"folders"`  // made below them
	Programs [][]string `json:"programs"` // what is started, all at the same time
}

// File has a path, and the file or folder of this machine that is seen there.
type File struct {
	Path string `json:"path"`
	Is   string `json:"is"`
}

// Main boots the machine that a file describes, and returns only when nothing runs on it any more.
func Main(path string) int {
	text, err := os.ReadFile(path)
	var m Machine
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil {
		err = m.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "boot:", err)
		return 1
	}
	return 0
}
