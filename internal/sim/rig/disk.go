package rig

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const imageSize = 16 << 20 // bytes

// Disk is a file system in an image file, for tests that cut the power: the image holds at each moment what a disk
// would hold after a power cut. A [Writer] works in its one folder.
type Disk struct {
	t       testing.TB
	mounts  Mounts
	image   string
	project string
	cuts    int
}

// NewDisk makes a disk, which only the calling goroutine and the processes that it starts see: see [PrivateMounts].
func NewDisk(t testing.TB) *Disk {
	t.Helper()
	Needs(t, "mke2fs")
	dir := ShortDir(t)
	d := &Disk{t: t, mounts: PrivateMounts(t), image: filepath.Join(dir, "image"), project: filepath.Join(dir, "disk", "project")}
	Must(t, os.WriteFile(d.image, nil, 0o600))
	Must(t, os.Truncate(d.image, imageSize))
	if out, err := exec.Command("mke2fs", "-q", "-F", "-t", "ext4", d.image).CombinedOutput(); err != nil {
		t.Fatalf("mke2fs: %v: %s", err, out)
	}
	d.mounts.Image(d.image, filepath.Dir(d.project))
	return d
}

// Cut suspends the writer, calls look with the writer's folder in a copy of the disk, and lets the writer go on. said
// is the last number that the writer has printed; look returns what is lost, "" for nothing.
func (d *Disk) Cut(w *Writer, look func(project string, said int) (lost string)) (lost string) {
	d.t.Helper()
	w.stop()
	defer func() { Must(d.t, w.Process.Signal(syscall.SIGCONT)) }()
	said := w.Said()
	d.cuts++
	copied := fmt.Sprintf("%s.%d", d.image, d.cuts)
	image, err := os.ReadFile(d.image)
	Must(d.t, err)
	Must(d.t, os.WriteFile(copied, image, 0o600))
	defer func() { _ = os.Remove(copied) }()
	at := filepath.Join(filepath.Dir(d.image), fmt.Sprintf("copy%d", d.cuts))
	d.mounts.Image(copied, at)
	defer d.mounts.Unmount(at)
	return look(filepath.Join(at, filepath.Base(d.project)), said)
}

// powerCuts is how many cuts [CutAtRandom] makes at least.
const powerCuts = 10

// CutAtRandom cuts the power again and again while a role counts up, at random moments, and logs their seed. Nothing
// may be lost: see [Disk.Cut].
func CutAtRandom(t testing.TB, role string, look func(project string, said int) (lost string)) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	d := NewDisk(t)
	running := d.StartWriter(role)
	for cut := 0; cut < powerCuts || running.Said() < powerCuts; cut++ { // on a busy machine few numbers are written between two cuts
		<-time.After(time.Duration(random.IntN(30_000)) * time.Microsecond)
		Equal(t, d.Cut(running, look), "", "cut %d", cut)
	}
	t.Logf("%d numbers were said", running.Said())
}

// LossesOf steps a role through five numbers, cuts the power right after each, the moment at which a missing sync
// shows, and returns how often something was lost.
func LossesOf(t testing.TB, role string, look func(project string, said int) (lost string)) (losses int) {
	t.Helper()
	d := NewDisk(t)
	stepping := d.StartStepwise(role)
	for cut := range 5 {
		stepping.Step()
		if what := d.Cut(stepping, look); what != "" {
			t.Logf("cut %d: %s", cut, what)
			losses++
		}
	}
	return losses
}

// Writer is a process that counts up in a folder of a disk, and prints each number, one a line, once it is safe there.
type Writer struct {
	*Child
	t   testing.TB
	out string
}

// StartWriter starts a role that counts up. The role's argument is the folder, which the role makes.
func (d *Disk) StartWriter(role string) *Writer {
	d.t.Helper()
	w := d.start(role, d.project)
	w.waitSaid(1)
	return w
}

// StartStepwise starts a role that waits for a byte on its stdin before each number: see [Writer.Step].
func (d *Disk) StartStepwise(role string) *Writer {
	d.t.Helper()
	return d.start(role, d.project, "stepwise")
}

func (d *Disk) start(role ...string) *Writer {
	d.t.Helper()
	out, err := os.Create(filepath.Join(MemoryDir(d.t), "said"))
	Must(d.t, err)
	defer out.Close()
	cmd := Command(role...)
	cmd.Stdout = out
	return &Writer{StartChild(d.t, cmd), d.t, out.Name()}
}

// CountUp is the loop of a role that a [Writer] plays: it writes 1, 2, 3 ... and prints each when it is written. A
// stepwise one waits for a byte before each, and ends with its test.
func CountUp(stepwise bool, write func(n int) error) error {
	words := bufio.NewReader(os.Stdin)
	for n := 1; ; n++ {
		if stepwise {
			if _, err := words.ReadByte(); err != nil {
				return nil //nolint:nilerr // the test has ended
			}
		}
		if err := write(n); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// Said is the last number that the writer has printed; 0 for none.
func (w *Writer) Said() int {
	w.t.Helper()
	text, err := os.ReadFile(w.out)
	Must(w.t, err)
	lines := strings.Split("0\n"+string(text), "\n") // the text after the last line break may be cut short
	number, err := strconv.Atoi(lines[len(lines)-2])
	Must(w.t, err)
	return number
}

// Step lets a stepwise writer count once, and returns when it has printed the number.
func (w *Writer) Step() {
	w.t.Helper()
	before := w.Said()
	_, err := w.Stdin.Write([]byte{'.'})
	Must(w.t, err)
	w.waitSaid(before + 1)
}

func (w *Writer) waitSaid(number int) {
	w.t.Helper()
	WaitFor(w.t, "the writer counts", func() (bool, string) { return w.Said() >= number, strconv.Itoa(w.Said()) })
}

// stop suspends the writer.
func (w *Writer) stop() {
	w.t.Helper()
	Must(w.t, w.Process.Signal(syscall.SIGSTOP))
	Eventually(w.t, "the writer is stopped", func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(w.Process.Pid), "stat"))
		_, state, _ := strings.Cut(string(stat), ") ")
		return err == nil && strings.HasPrefix(state, "T")
	})
}
