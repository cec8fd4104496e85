package setup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
)

// System is an operating system and an architecture, as Go names them.
type System struct{ OS, Arch string }

func (s System) String() string { return s.OS + "/" + s.Arch }

// SystemOf asks a host for its system. Errors: those of an unreachable host; Unfit for a system that is not known.
func SystemOf(ctx context.Context, h host.Host) (System, error) {
	answer, err := link.OncePlain(ctx, h, nil, "uname", "-sm")
	if err != nil {
		return System{}, err
	}
	name := lastLine(string(answer.Out)) // a shell may have printed some before
	system, known := map[string]System{
		"Linux x86_64": {"linux", "amd64"}, "Linux aarch64": {"linux", "arm64"}, "Linux arm64": {"linux", "arm64"},
		"Darwin x86_64": {"darwin", "amd64"}, "Darwin arm64": {"darwin", "arm64"},
	}[name]
	if answer.Code != 0 || !known {
		return System{}, fail.Errorf(fail.Unfit, "the system of %s is not known: uname -sm printed %s", h.Name, human.Quote(name)).
			Hint("install nbs-worker there by hand, and name it: nbs-worker host add %s %s --program PATH", h.Name, h.Destination)
	}
	return system, nil
}

// Program is a file of this program, for a system.
type Program struct {
	System
	Path string
	Text []byte
	Sum  string // SHA-256, in hexadecimal
}

// ReadProgram reads a program. Errors: BadInput for a file that is no program of a known system.
func ReadProgram(path string) (Program, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Program{}, fmt.Errorf("read the program: %w", err)
	}
	system, known := systemOfProgram(text)
	if !known {
		return Program{}, fail.Errorf(fail.BadInput, "%s is no program for Linux or macOS on amd64 or arm64", human.Quote(path))
	}
	sum := sha256.Sum256(text)
	return Program{System: system, Path: path, Text: text, Sum: hex.EncodeToString(sum[:])}, nil
}

// systemOfProgram reads the head of a program: of ELF, or of Mach-O for one architecture.
func systemOfProgram(text []byte) (System, bool) {
	const head = 20
	if len(text) < head {
		return System{}, false
	}
	if bytes.HasPrefix(text, []byte("\x7fELF\x02\x01")) { // 64 bits, little endian
		arch, known := map[uint16]string{0x3e: "amd64", 0xb7: "arm64"}[binary.LittleEndian.Uint16(text[18:])]
		return System{"linux", arch}, known
	}
	if bytes.HasPrefix(text, []byte("\xcf\xfa\xed\xfe")) {
		arch, known := map[uint32]string{0x0100_0007: "amd64", 0x0100_000c: "arm64"}[binary.LittleEndian.Uint32(text[4:])]
		return System{"darwin", arch}, known
	}
	return System{}, false
}

// Installed is where a program is put at a host, from the home folder there. Commands by ssh find it.
const Installed = ".local/bin/nbs-worker"

// receive is what the shell of a host does: it takes the program from stdin, checks its sum, starts it once, and only then
// puts it in the place of an older one. It prints the version.
const receive = `umask 077; set -e; mkdir -p "$HOME/.local/bin"; new=$(mktemp "$HOME/.local/bin/.nbs-worker.XXXXXX"); ` +
	`trap 'rm -f "$new"' EXIT; cat > "$new"; ` +
	`sum=$(sha256sum < "$new" 2>/dev/null || shasum -a 256 < "$new"); ` +
	`if [ "${sum%% *}" != "$1" ]; then echo "it arrived with another checksum: ${sum%% *}" >&2; exit 1; fi; ` +
	`chmod 700 "$new"; "$new" version; mv -f "$new" "$HOME/` + Installed + `"`

// Install copies a program to a host, and returns what it prints as its version there. Errors: those of an unreachable
// host; Failed when it did not arrive, or does not run there: then an older one is as it was.
func Install(ctx context.Context, h host.Host, p Program) (version string, err error) {
	answer, err := link.OncePlain(ctx, h, p.Text, "sh", "-c", receive, "sh", p.Sum)
	if err != nil {
		return "", err
	}
	if answer.Code != 0 {
		return "", fail.Errorf(fail.Failed, "copy nbs-worker to %s: %s", h.Name, lastLine(answer.Said)).
			Hint("see what is there: ssh %s ls -la .local/bin", h.Destination)
	}
	return lastLine(string(answer.Out)), nil
}

// VersionAt returns what nbs-worker prints as its version at a host; "" if it is not there. Errors: those of an
// unreachable host.
func VersionAt(ctx context.Context, h host.Host) (string, error) {
	answer, err := link.Once(ctx, h, "version")
	if far, is := errors.AsType[*link.Unreachable](err); is && far.Reason == link.NoProgram {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return lastLine(string(answer.Out)), nil
}
