// Package jobs keeps what a user's other machines asked this one to do, in the user's state folder: a folder for each
// request, named by its id. It has the request, its input, what the command writes, and how the command ended.
//
//   - A request runs at most once. Its process takes a lock and then makes the file "began"; it runs only if that file
//     was missing. Whoever starts a second process for it starts one that ends at once.
//   - A command that ended has an "end". One that began, has no end, and holds no lock was killed: what it has done is
//     unknown.
//   - Output can be read from any place again, while the command runs and after it.
//   - A request that changed something is remembered for [kept] after its end, one that only showed something for
//     [keptView].
//
// The package starts no process.
package jobs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/trust"
)

// The files of a job.
const (
	request = "request.json"
	input   = "input"
	filling = "input.part-*"
	lock    = "lock"
	began   = "began.json"
	end     = "end.json"
	reader  = "reader"
	read    = "read.json"
	out     = "out"
	errOut  = "err"
)

const (
	kept     = 24 * time.Hour
	keptView = 10 * time.Minute
	limit    = 4 << 20 // bytes of a request: the texts of a command line

	patience       = time.Minute
	followPatience = 24 * time.Hour // the user's other machine may sleep
)

// Drawer has the jobs of one user.
type Drawer struct{ tree private.Tree }

// Of returns the jobs of the user with this state folder.
func Of(home trust.Home) *Drawer { return &Drawer{private.Tree(home.Path("jobs"))} }

// Request is a command line for a project of this machine.
type Request struct {
	Folder string   `json:"folder"` // of the project; a relative one is below the home folder
	Args   []string `json:"args"`
	Keep   bool     `json:"keep"`             // the command goes on without a reader
	Follow bool     `json:"follow,omitempty"` // or at least for a day: it waits for something, or shows what comes
	Input  bool     `json:"input"`            // it has a stdin
	As     string   `json:"as"`               // the name that this machine has there
	Width  int      `json:"width"`            // of the terminal there, in columns; 0: none
	Color  bool     `json:"color"`

	Room agent.Room `json:"room,omitzero"` // for what the command starts
}

// Patience returns how long the command goes on without a reader, if it is not one to keep.
func (r Request) Patience() time.Duration {
	if r.Follow {
		return followPatience
	}
	return patience
}

// Job is a request that this machine has taken.
type Job struct {
	ID string
	Request
	tree private.Tree
}

// Take takes a request, or finds the one that was taken with its id. Errors: BadInput; Conflict if the id is that of
// another request.
func (d *Drawer) Take(id string, r Request) (*Job, error) {
	if len(r.Args) == 0 {
		return nil, fail.Errorf(fail.BadInput, "the request has no command")
	}
	job, err := d.at(id)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err == nil && len(text) > limit {
		err = fail.Errorf(fail.BadInput, "the request is larger than %d bytes", limit)
	}
	if err != nil {
		return nil, err
	}
	if _, err := job.tree.Read(request, limit); errors.Is(err, fs.ErrNotExist) {
		if err := job.tree.Write(request, text); err != nil {
			return nil, err
		}
	}
	if err := job.read(); err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(job.Request, r) {
		return nil, fail.Errorf(fail.Conflict, "request %s was another one", id)
	}
	return job, nil
}

// Find returns a job by its id. Errors: BadInput; NotFound.
func (d *Drawer) Find(id string) (*Job, error) {
	job, err := d.at(id)
	if err != nil {
		return nil, err
	}
	err = job.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail.Errorf(fail.NotFound, "this machine has no request %s", id)
	}
	return job, err
}

func (d *Drawer) at(id string) (*Job, error) {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return nil, fail.Errorf(fail.BadInput, "%s is not the id of a request", human.Quote(id))
	}
	return &Job{ID: id, tree: private.Tree(d.tree.Path(id))}, nil
}

func (j *Job) read() error {
	text, err := j.tree.Read(request, limit)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &j.Request)
}

// Sweep forgets the jobs that ended long ago, and those that never began.
func (d *Drawer) Sweep(now time.Time) {
	names, _ := d.tree.Names()
	for _, name := range names {
		job, err := d.at(name)
		if err != nil {
			continue
		}
		age, err := job.age(now)
		if err != nil {
			continue
		}
		if age < keptView || age < kept && (job.read() != nil || job.Keep) {
			continue
		}
		if state, _, err := job.State(); err == nil && state != Running {
			_ = os.RemoveAll(string(job.tree))
		}
	}
}

// age returns how long ago the job ended or, if it has no end, was asked for.
func (j *Job) age(now time.Time) (time.Duration, error) {
	info, err := os.Lstat(j.tree.Path(end))
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Lstat(j.tree.Path(request))
	}
	if err != nil {
		return 0, err
	}
	return now.Sub(info.ModTime()), nil
}

// State is how far a job is.
type State int

// The states of a job.
const (
	New     State = iota // it did not begin
	Running              // its process runs
	Ended                // it has an exit code
	Killed               // its process was killed: what it has done is unknown
)

// ending is what the end says.
type ending struct {
	Code int `json:"code"`
}

// State returns how far the job is, and its exit code if it has ended.
func (j *Job) State() (state State, code int, err error) {
	if state, code, err = j.ended(); err != nil || state == Ended {
		return state, code, err
	}
	if _, err := os.Lstat(j.tree.Path(began)); errors.Is(err, fs.ErrNotExist) {
		return New, 0, nil
	}
	held, err := j.tree.TryLock(lock)
	if err != nil {
		return New, 0, err
	}
	if held == nil {
		return Running, 0, nil
	}
	defer held.Close()
	if state, code, err = j.ended(); state == New && err == nil { // it may have ended since
		state = Killed
	}
	return state, code, err
}

func (j *Job) ended() (State, int, error) {
	text, err := j.tree.Read(end, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return New, 0, nil
	}
	if err != nil {
		return New, 0, err
	}
	var e ending
	return Ended, e.Code, errors.Join(json.Unmarshal(text, &e))
}

// AwaitEnd waits until no process has the job any more. It may be called once the job has begun.
func (j *Job) AwaitEnd() error {
	file, err := os.Open(j.tree.Path(lock))
	if err != nil {
		return err
	}
	defer file.Close()
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_SH); !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// Process returns the process that began the job.
func (j *Job) Process() (id agent.Identity, err error) {
	text, err := j.tree.Read(began, limit)
	if err != nil {
		return id, err
	}
	return id, json.Unmarshal(text, &id)
}

// Files returns the folder of the job's files.
func (j *Job) Files() string { return string(j.tree) }

// Output opens what the command has written to stdout and to stderr, to be read while it writes.
func (j *Job) Output() (stdout, stderr *os.File, err error) {
	return j.open(os.O_RDONLY|os.O_CREATE, out, errOut)
}

func (j *Job) open(flag int, first, second string) (one, other *os.File, err error) {
	const private = 0o600
	if one, err = os.OpenFile(filepath.Join(string(j.tree), first), flag|unix.O_NOFOLLOW, private); err != nil {
		return nil, nil, err
	}
	if other, err = os.OpenFile(filepath.Join(string(j.tree), second), flag|unix.O_NOFOLLOW, private); err != nil {
		return nil, nil, errors.Join(err, one.Close())
	}
	return one, other, nil
}
