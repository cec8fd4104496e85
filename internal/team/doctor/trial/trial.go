// Package trial starts what cannot be judged by looking at it: a claude and a tmux session like those
// of an agent. It returns what they did, and judges nothing; that is for internal/team/doctor, which alone
// uses it.
//
// What it starts has a folder and a tmux server of its own, and no account. What it started it
// ends, also when the caller is interrupted.
package trial
