package fake

func (k kernel) System() string {
	if k.HidesStart {
		return "darwin"
	}
	return "linux"
}
