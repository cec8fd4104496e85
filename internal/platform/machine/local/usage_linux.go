package local

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"nbs-worker/internal/platform/machine"
)

func (kernel) Usage(pid int) (used machine.Usage, err error) {
	statm, err := readProc(pid, "statm")
	if err != nil {
		return used, err
	}
	var size, resident uint64 // in pages
	_, _ = fmt.Sscan(string(statm), &size, &resident)
	used.RSS = resident * uint64(os.Getpagesize()) //nolint:gosec // it is positive
	io, _ := readProc(pid, "io")                   // for its owner only
	for line := range bytes.Lines(io) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		n, _ := strconv.ParseUint(string(value), 10, 64)
		switch string(name) {
		case "read_bytes":
			used.Read = n
		case "write_bytes":
			used.Written = n
		}
	}
	return used, nil
}

// Children reads what the kernel lists for each thread.
func (kernel) Children(pid int) (children []int, err error) {
	threads, err := os.ReadDir(procPath(pid, "task"))
	for _, thread := range threads {
		text, failed := readProc(pid, "task/"+thread.Name()+"/children")
		if failed != nil {
			err = failed // the thread has ended, or the kernel has no such file
			continue
		}
		for word := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				children = append(children, child)
			}
		}
	}
	if children != nil {
		return children, nil
	}
	return nil, err
}
