package agent

// Mapped applies a function to each element of a list. The result is never nil.
func Mapped[From, To any](list []From, to func(From) To) []To {
	out := make([]To, len(list))
	for i, one := range list {
		out[i] = to(one)
	}
	return out
}
