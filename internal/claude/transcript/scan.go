package transcript

import (
	"bytes"
	"errors"
	"io"
)

// streamContains tells whether the needle occurs in a stream of any length.
func streamContains(r io.Reader, needle []byte) (bool, error) {
	buffer := make([]byte, 1<<16)
	kept := 0 // bytes of the last piece in which a needle may have begun
	for {
		n, err := r.Read(buffer[kept:])
		if bytes.Contains(buffer[:kept+n], needle) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		tail := max(0, kept+n-len(needle)+1)
		kept = copy(buffer, buffer[tail:kept+n])
	}
}
