package security

import (
	"fmt"
	"strings"
)

// mustHaveSent checks that the API got the text as one message, byte for byte.
func (m *team) mustHaveSent(text string) {
	m.Helper()
	var all []string
	for _, request := range m.API.Requests() {
		for _, sent := range request.Texts {
			if sent == text {
				return
			}
			all = append(all, fmt.Sprintf("%d bytes: %.200q", len(sent), sent))
		}
	}
	m.Errorf("the API did not get %d bytes, %.200q, but\n%s", len(text), text, strings.Join(all, "\n"))
}
