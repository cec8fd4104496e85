// Package trial starts a claude like that of an agent, and returns what it did. internal/team/doctor, the only user of
// the package, judges that.
//
// The claude has its own folder and tmux server, and no account. The package ends everything that it started, also if
// the caller is interrupted.
package trial
