package boot

import "errors"

func (Machine) run() error { return errors.New("a host is simulated on Linux only") }
