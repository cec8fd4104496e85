package subscribe

import "time"

// Changes are the signs of several subscriptions in one: an agent of any of them may have changed.
type Changes struct {
	all    []*Signs
	c      chan struct{}
	some   chan struct{} // a sign came
	failed chan error
	closed chan struct{} // by Close
	err    error
}

// Join returns the changes of subscriptions, and closes these with itself. Signs that follow the first one within a time
// are one change with it.
func Join(within time.Duration, all ...*Signs) *Changes {
	j := &Changes{all: all, c: make(chan struct{}), some: make(chan struct{}, 1), failed: make(chan error, len(all)), closed: make(chan struct{})}
	for _, signs := range all {
		go j.collect(signs)
	}
	go j.deliver(within)
	return j
}

// C returns the channel of the changes. It is closed when a subscription has failed.
func (j *Changes) C() <-chan struct{} { return j.c }

// Err returns why C is closed. Errors: Unfit at a limit of the kernel; Failed.
func (j *Changes) Err() error { return j.err }

// Close ends the subscriptions.
func (j *Changes) Close() {
	close(j.closed)
	for _, signs := range j.all {
		signs.Close()
	}
}

// collect takes the signs of a subscription as they come.
func (j *Changes) collect(signs *Signs) {
	for {
		select {
		case _, open := <-signs.C():
			if !open {
				j.failed <- signs.Err()
				return
			}
			select {
			case j.some <- struct{}{}:
			default:
			}
		case <-j.closed:
			return
		}
	}
}

func (j *Changes) deliver(within time.Duration) {
	for {
		select {
		case <-j.some:
		case j.err = <-j.failed:
			close(j.c)
			return
		case <-j.closed:
			return
		}
		select {
		case <-time.After(within):
		case <-j.closed:
			return
		}
		select {
		case <-j.some:
		default:
		}
		select {
		case j.c <- struct{}{}:
		case <-j.closed:
			return
		}
	}
}
