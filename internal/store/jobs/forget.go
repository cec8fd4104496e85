package jobs

import (
	"errors"
	"os"

	"nbs-worker/internal/store/private"
)

// Forget empties the ended jobs that a function names: what they have read and written. The jobs stay, so that none runs
// again if it is asked for again.
func (d *Drawer) Forget(is func(Request) bool) error {
	names, err := d.tree.Names()
	errs := []error{err}
	for _, name := range names {
		job, err := d.at(name)
		if err != nil || job.read() != nil || !is(job.Request) {
			continue
		}
		if state, _, err := job.State(); err == nil && state == Ended {
			for _, name := range []string{input, out} {
				errs = append(errs, private.IfThere(os.Truncate(job.tree.Path(name), 0)))
			}
		}
	}
	return errors.Join(errs...)
}
