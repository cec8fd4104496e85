// Package trial starts what cannot be judged by looking: a claude and a tmux session like those of an agent. It
// returns what they did. internal/team/doctor, the only user of the package, judges that.
//
// Everything that it starts has its own folder and tmux server, and no account. It ends everything that it started,
// also if the caller is interrupted.
package trial
