package agent

import "strings"

// Nearest returns the existing handle that was probably meant: one that is a slip away, or the only one with the same
// beginning; "" if no handle is near.
func (h Handle) Nearest(handles []Handle) Handle {
	const beginning = 3 // letters
	var begins []Handle
	for _, other := range handles {
		if oneSlip(h.Key(), other.Key()) {
			return other
		}
		if h != "" && strings.HasPrefix(other.Key(), h.Key()) || len(other) >= beginning && strings.HasPrefix(h.Key(), other.Key()) {
			begins = append(begins, other)
		}
	}
	if len(begins) == 1 {
		return begins[0]
	}
	return ""
}

// oneSlip reports whether a and b differ by one insertion, deletion, substitution
// or exchange of neighbours.
func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch restA, restB := a[i:], b[i:]; len(restB) - len(restA) {
	case 1:
		return restA == restB[1:]
	case 0:
		return len(restA) > 0 && (restA[1:] == restB[1:] || exchanged(restA, restB))
	default:
		return false
	}
}

func exchanged(a, b string) bool {
	return len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
}
