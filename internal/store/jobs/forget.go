package jobs

import (
	"errors"
	"os"
)

// Forget removes the ended jobs that a function names. The caller knows that their results are not asked for again.
func (d *Drawer) Forget(is func(Request) bool) error {
	names, err := d.tree.Names()
	errs := []error{err}
	for _, name := range names {
		job, err := d.at(name)
		if err != nil || job.read() != nil || !is(job.Request) {
			continue
		}
		if state, _, err := job.State(); err == nil && state == Ended {
			errs = append(errs, os.RemoveAll(string(job.tree)))
		}
	}
	return errors.Join(errs...)
}
