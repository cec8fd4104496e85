package transcript

// LastWords returns the model of the last reply and the last permission mode of a conversation;
// "" for what the transcript does not have. The model has its name in the API, not the one by
// which the user chose it.
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
