package human

import "strings"

// Nearest returns the known word that was probably meant: one that is a slip away, or the only one with the same
// beginning; "" if no word is near. Case does not count.
func Nearest(word string, known []string) string {
	const beginning = 3 // letters
	var begins []string
	word = strings.ToLower(word)
	for _, other := range known {
		lower := strings.ToLower(other)
		if OneSlip(word, lower) {
			return other
		}
		if word != "" && strings.HasPrefix(lower, word) || len(other) >= beginning && strings.HasPrefix(word, lower) {
			begins = append(begins, other)
		}
	}
	if len(begins) == 1 {
		return begins[0]
	}
	return ""
}

// OneSlip reports whether a and b differ by one insertion, deletion, substitution
// or exchange of neighbours.
func OneSlip(a, b string) bool {
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
