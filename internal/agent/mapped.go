package agent

// Mapped is what each of a list leads to; never nil.
func Mapped[From, To any](list []From, to func(From) To) []To {
	out := make([]To, len(list))
	for i, one := range list {
		out[i] = to(one)
	}
	return out
}
