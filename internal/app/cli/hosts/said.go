package hosts

import (
	"io"
	"strings"
)

// saidAt writes what nbs-worker says at a host, and adds the host to the lines that begin with the program's name.
type saidAt struct {
	host   string
	to     io.Writer
	begun  string // a line that may begin with the name
	inLine bool
}

func (s *saidAt) Write(text []byte) (int, error) {
	const program = "nbs-worker: "
	var out strings.Builder
	for _, b := range text {
		if !s.inLine {
			s.begun += string([]byte{b})
			if s.begun != program && strings.HasPrefix(program, s.begun) {
				continue
			}
			out.WriteString(s.begun)
			if s.begun == program {
				out.WriteString(s.host + ": ")
			}
			s.begun = ""
		} else {
			out.WriteByte(b)
		}
		s.inLine = b != '\n'
	}
	_, err := io.WriteString(s.to, out.String())
	return len(text), err
}

// flush writes a last line without an end.
func (s *saidAt) flush() {
	_, _ = io.WriteString(s.to, s.begun)
	s.begun = ""
}
