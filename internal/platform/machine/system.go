package machine

// System returns the operating system of the machine, as Go names it: linux or darwin.
func (m *Machine) System() string { return m.kernel.System() }

// IsMac reports whether macOS runs the machine.
func (m *Machine) IsMac() bool { return m.System() == "darwin" }
