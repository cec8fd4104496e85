package security

// forgetExits removes what a launcher recorded, as if it had had no time to.
func (m *team) forgetExits(handle string) {
	m.Helper()
	m.SetRecord(handle, func(fields map[string]any) { delete(fields, "exits") })
}
