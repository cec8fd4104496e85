package fake

func (k kernel) System() string {
	if k.Mac {
		return "darwin"
	}
	return "linux"
}
