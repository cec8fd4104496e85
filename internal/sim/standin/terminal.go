package standin

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// terminal is the tty in raw mode, in which no key sends a signal, as with the real program.
type terminal struct {
	in    *os.File
	saved unix.Termios
	keys  chan key
}

// openTerminal switches stdin to raw mode and starts to read keys. The channel closes when the tty hangs up.
func openTerminal() (*terminal, error) {
	t := &terminal{in: os.Stdin, keys: make(chan key)}
	saved, err := unix.IoctlGetTermios(int(t.in.Fd()), getModes)
	if err != nil {
		return nil, usageError("Error: Input must be provided either through stdin or as a prompt argument when using --print")
	}
	t.saved = *saved
	raw := *saved
	raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(t.in.Fd()), setModes, &raw); err != nil {
		return nil, fmt.Errorf("set terminal: %w", err)
	}
	fmt.Print("\x1b[?2004h") // bracketed paste
	go t.read()
	return t, nil
}

// close puts the terminal back and empties the title.
func (t *terminal) close() {
	fmt.Print("\x1b[?2004l\x1b]0;\a")
	_ = unix.IoctlSetTermios(int(t.in.Fd()), setModes, &t.saved) // a tty that is gone needs no restoring
}

func (t *terminal) title(text string) { fmt.Printf("\x1b]0;%s\a", text) }

// size returns the terminal's columns and rows.
func (t *terminal) size() (cols, rows int) {
	ws, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return 120, 40
	}
	return int(ws.Col), int(ws.Row)
}

type keyKind int

const (
	keyText keyKind = iota // text
	keyPaste
	keyEnter
	keyNewline
	keyBackspace
	keyUp
	keyDown
	keyEscape
	keyInterrupt // C-c
	keyEnd       // C-d
	keyKill      // C-u
	keyYank      // C-y
	keyDelete
	keyHome
	keyLineEnd
)

type key struct {
	kind keyKind
	text string
}

func (t *terminal) read() {
	defer close(t.keys)
	r := bufio.NewReaderSize(t.in, 64<<10)
	for {
		k, ok, err := readKey(r)
		if err != nil {
			return
		}
		if ok {
			t.keys <- k
		}
	}
}

var controls = map[rune]keyKind{
	'\r': keyEnter, '\n': keyNewline, 0x7f: keyBackspace, 0x08: keyBackspace,
	0x03: keyInterrupt, 0x04: keyEnd, 0x15: keyKill,
}

// sequences are the keys that come as "\x1b[" and these characters.
var sequences = map[string]keyKind{
	"A": keyUp, "B": keyDown, "H": keyHome, "F": keyLineEnd, "3~": keyDelete,
	"13u": keyEnter, "127u": keyBackspace, "117;5u": keyKill, "121;5u": keyYank,
}

// readKey returns the next key; ok is false for one that means nothing here.
func readKey(r *bufio.Reader) (k key, ok bool, err error) {
	c, _, err := r.ReadRune()
	if err != nil {
		return key{}, false, err
	}
	if c == 0x1b {
		return readEscape(r)
	}
	if kind, found := controls[c]; found {
		return key{kind: kind}, true, nil
	}
	if !unicode.IsPrint(c) {
		return key{}, false, nil
	}
	return key{kind: keyText, text: string(c) + readBuffered(r)}, true, nil
}

// readBuffered takes the text that arrived together with its first character.
func readBuffered(r *bufio.Reader) string {
	var b strings.Builder
	for r.Buffered() > 0 {
		c, _, err := r.ReadRune()
		if err != nil {
			break
		}
		if !unicode.IsPrint(c) {
			_ = r.UnreadRune() // directly after ReadRune it cannot fail
			break
		}
		b.WriteRune(c)
	}
	return b.String()
}

// readEscape tells a lone Escape from a sequence by what came with it in the same read.
func readEscape(r *bufio.Reader) (key, bool, error) {
	if r.Buffered() == 0 {
		return key{kind: keyEscape}, true, nil
	}
	c, _, err := r.ReadRune()
	if err != nil {
		return key{}, false, err
	}
	if c == '\r' {
		return key{kind: keyNewline}, true, nil
	}
	if c != '[' {
		return key{}, false, nil
	}
	sequence, err := readSequence(r)
	if err != nil {
		return key{}, false, err
	}
	if sequence == "200~" {
		text, err := readPaste(r)
		return key{kind: keyPaste, text: text}, true, err
	}
	kind, found := sequences[sequence]
	return key{kind: kind}, found, nil
}

func readSequence(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		c, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		b.WriteByte(c)
		if c >= 0x40 && c <= 0x7e {
			return b.String(), nil
		}
	}
}

// readPaste reads to the end of a bracketed paste. A terminal sends CR for the ends of lines.
func readPaste(r *bufio.Reader) (string, error) {
	const end = "\x1b[201~"
	var b strings.Builder
	for !strings.HasSuffix(b.String(), end) {
		chunk, err := r.ReadString('~')
		b.WriteString(chunk)
		if err != nil && err != io.EOF {
			return "", err
		}
		if err == io.EOF {
			break
		}
	}
	text := strings.TrimSuffix(b.String(), end)
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), nil
}
