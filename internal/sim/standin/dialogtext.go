package standin

// dialog returns the text of a dialog; which answer comes first depends on the version.
func (s *session) dialog(name string) dialog {
	switch name {
	case "trust":
		return s.trustDialog()
	case "api-key":
		return dialog{name: name, start: 1, options: []string{"Yes", "No (recommended)"}, lines: []string{
			"  Detected a custom API key in your environment", "",
			"  ANTHROPIC_API_KEY: sk-ant-..." + keyTail(s.key), "",
			"  Do you want to use this API key?", "",
		}}
	case "bypass":
		return bypassDialog()
	case "login":
		return dialog{name: name, options: []string{
			"Claude account with subscription · Pro, Max, Team, or Enterprise",
			"Anthropic Console account · API usage billing",
		}, lines: []string{" Select login method:", ""}}
	case "picker":
		return dialog{name: name, lines: []string{" Resume session", "", " ⌕ Search…", "", " No sessions found."}}
	}
	return dialog{name: "onboarding", options: []string{"Dark mode", "Light mode"}, lines: []string{
		" Let's get started.", "", " Choose the text style that looks best with your terminal",
		" To change this later, run /theme", "",
	}}
}

func (s *session) trustDialog() dialog {
	d := dialog{name: "trust", options: []string{"No, exit", "Yes, I trust this folder"}, lines: []string{
		" Accessing workspace:", "", " " + s.cwd, "",
		" Quick safety check: Is this a project you created or one you trust? (Like your own code, a well-known open source",
		" project, or work from your team). If not, take a moment to review what's in this folder first.", "",
		" Claude Code'll be able to read, edit, and execute files here.", "", " Security guide", "",
	}}
	if s.whims.old() {
		d.options[0], d.options[1] = d.options[1], d.options[0]
	}
	return d
}

func bypassDialog() dialog {
	return dialog{name: "bypass", options: []string{"No, exit", "Yes, I accept"}, lines: []string{
		"  WARNING: Claude Code running in Bypass Permissions mode", "",
		"  In Bypass Permissions mode, Claude Code will not ask for your approval before running potentially dangerous",
		"  commands.",
		"  This mode should only be used in a sandboxed container/VM that has restricted internet access and can easily be",
		"  restored if damaged.", "",
		"  By proceeding, you accept all responsibility for actions taken while running in Bypass Permissions mode.", "",
		"  https://code.claude.com/docs/en/security", "",
	}}
}
