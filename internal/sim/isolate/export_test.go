package isolate

// What the tests of this package use of its inside.
var (
	Judge       = judge
	StartOrphan = startOrphan
	Begin       = begin
)

const CodeFailed = codeFailed
