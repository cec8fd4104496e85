package supervisor

// CheckPerson is a placeholder until powers are in.
func (s *Supervisor) CheckPerson(_ string) error { return nil }
