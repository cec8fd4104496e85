package human

import (
	"slices"
	"strings"
)

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Diff returns two texts as one: "-" before lines that go, "+" before lines that come, " " before the others.
func Diff(before, after string) string {
	b, old, now := &strings.Builder{}, linesOf(before), linesOf(after)
	start := 0
	for start < min(len(old), len(now)) && old[start] == now[start] {
		start++
	}
	end := 0
	for end < min(len(old), len(now))-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	same := func(lines []string) {
		for _, line := range lines {
			b.WriteString(" " + line + "\n")
		}
	}
	same(old[:start])
	writeChange(b, old[start:len(old)-end], now[start:len(now)-end])
	same(old[len(old)-end:])
	return b.String()
}

const comparedLimit = 1 << 20 // pairs of lines; a larger change is shown as a whole

// writeChange writes the lines between the common beginning and the common end.
func writeChange(b *strings.Builder, old, now []string) {
	if len(old)*len(now) > comparedLimit {
		writeAll(b, '-', old)
		writeAll(b, '+', now)
		old, now = nil, nil
	}
	// common[i][j] is the number of lines that old[i:] and now[j:] have in common, in order.
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := range slices.Backward(old) {
		for j := range slices.Backward(now) {
			if old[i] == now[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(old) && j < len(now) {
		switch {
		case old[i] == now[j]:
			b.WriteString(" " + old[i] + "\n")
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			b.WriteString("-" + old[i] + "\n")
			i++
		default:
			b.WriteString("+" + now[j] + "\n")
			j++
		}
	}
	writeAll(b, '-', old[i:])
	writeAll(b, '+', now[j:])
}

// writeAll writes lines after a mark.
func writeAll(b *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		b.WriteByte(mark)
		b.WriteString(line + "\n")
	}
}
