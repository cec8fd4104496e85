package transcript

// LastWords are the model of the last reply and the last permission mode of a conversation;
// "" for what the transcript does not tell. The model is the one of the API: under which name
// the user chose it, it does not say.
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
