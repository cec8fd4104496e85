package link

import "nbs-worker/internal/fail"

// Complaint is what nbs-worker has said at a host when it failed.
type Complaint = fail.Complaint

// ReadComplaint reads the stderr of an nbs-worker that has ended with an exit code.
func ReadComplaint(code int, said string) Complaint { return fail.ReadComplaint(code, said) }
