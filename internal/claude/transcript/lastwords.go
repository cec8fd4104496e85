package transcript

// LastWords returns the model of the last reply and the last permission mode of a conversation, or "" if the
// transcript does not have them. The model has its name in the API, not the one that the user chose.
func (t File) LastWords() (model, mode string) {
	_ = t.eachBackward(func(record *conversationRecord) bool {
		if model == "" && record.replied() {
			model = record.message().Model
		}
		if mode == "" && record.Type == "permission-mode" {
			mode = record.Mode
		}
		return model == "" || mode == ""
	})
	return model, mode
}
