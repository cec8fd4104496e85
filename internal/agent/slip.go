package agent

import "nbs-worker/internal/human"

// Nearest returns the existing handle that was probably meant; "" if no handle is near.
func (h Handle) Nearest(handles []Handle) Handle {
	return Handle(human.Nearest(string(h), Mapped(handles, func(h Handle) string { return string(h) })))
}
