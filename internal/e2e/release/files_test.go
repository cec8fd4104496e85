package release

import (
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// targets are the systems and architectures of a release.
var targets = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// Each tar.gz has the program for its target, which needs no library, and the same pages and completions.
func TestPrograms(t *testing.T) {
	t.Parallel()
	var others []string
	for _, target := range targets {
		system, arch := target[0], target[1]
		tree := unpacked(t, system, arch)
		program := filepath.Join(tree, "bin/nbs-worker")
		is, libraries := kind(t, program, system)
		rig.Equal(t, is, map[string]string{
			"linux-amd64": "EM_X86_64", "linux-arm64": "EM_AARCH64", "darwin-amd64": "CpuAmd64", "darwin-arm64": "CpuArm64",
		}[system+"-"+arch], "the machine of %s-%s", system, arch)
		rig.Check(t, system == "darwin" || len(libraries) == 0, "%s-%s needs %q", system, arch, libraries)
		info, err := os.Stat(program)
		rig.Must(t, err)
		rig.Equal(t, info.Mode().Perm(), 0o755, "the mode of the program")
		files := listing(t, tree)
		if others == nil {
			others = files
		}
		rig.Same(t, system+"-"+arch, others, files)
	}
	pages := 0
	for _, name := range others {
		if strings.HasPrefix(name, "share/man/man1/nbs-worker-") {
			pages++
		}
	}
	rig.Check(t, pages > 50, "%d man pages", pages)
}

func kind(t *testing.T, program, system string) (machine string, libraries []string) {
	t.Helper()
	if system == "linux" {
		f, err := elf.Open(program)
		rig.Must(t, err)
		defer f.Close()
		libraries, err = f.ImportedLibraries()
		rig.Must(t, err)
		return f.Machine.String(), libraries
	}
	f, err := macho.Open(program)
	rig.Must(t, err)
	defer f.Close()
	return f.Cpu.String(), nil
}

// The program for arm64 does under an emulator what this machine's does.
func TestOtherArchitectureRuns(t *testing.T) {
	t.Parallel()
	const emulator = "qemu-aarch64-static"
	rig.Needs(t, emulator)
	ours, theirs := filepath.Join(unpacked(t, "linux", runtime.GOARCH), "bin/nbs-worker"), filepath.Join(unpacked(t, "linux", "arm64"), "bin/nbs-worker")
	world := rig.NewWorld(t, "")
	for _, args := range [][]string{{"version"}, {"version", "--json"}, {"--help"}, {"list"}, {"list", "--json"}, {"session", "none"}} {
		var said [2]string
		for i, command := range [][]string{append([]string{ours}, args...), append([]string{emulator, theirs}, args...)} {
			cmd := exec.Command(command[0], command[1:]...)
			cmd.Dir, cmd.Env = world.Project, world.Env()
			out, _ := cmd.CombinedOutput() // the code is compared
			said[i] = fmt.Sprintf("%s%d", out, cmd.ProcessState.ExitCode())
		}
		want := strings.Replace(said[0], `"arch":"`+runtime.GOARCH+`"`, `"arch":"arm64"`, 1)
		rig.Same(t, fmt.Sprintf("nbs-worker %q", args), want, said[1])
		rig.Check(t, args[0] != "version" || strings.Contains(said[1], version), "version: %s", said[1])
	}
}

// Each SBOM is valid, and names the modules that the program says it is linked from.
func TestSBOM(t *testing.T) {
	t.Parallel()
	schema := sbomSchema(t)
	for _, target := range targets {
		name := filepath.Join(release(t), "nbs-worker-"+version+"-"+target[0]+"-"+target[1]+".cdx.json")
		var document any
		decode(t, name, &document)
		err := schema.Validate(document)
		rig.Check(t, err == nil, "%s: %v", name, err)

		var bom struct {
			Metadata struct {
				Component struct{ Name, Version string }
			}
			Components []struct{ Name, Version string }
		}
		decode(t, name, &bom)
		listed := []string{}
		for _, c := range bom.Components {
			listed = append(listed, c.Name+" "+c.Version)
		}
		linked, err := buildinfo.ReadFile(filepath.Join(unpacked(t, target[0], target[1]), "bin/nbs-worker"))
		rig.Must(t, err)
		want := []string{"std " + linked.GoVersion}
		for _, module := range linked.Deps {
			want = append(want, module.Path+" "+module.Version)
		}
		slices.Sort(listed)
		slices.Sort(want)
		rig.Same(t, name, want, listed)
		rig.Equal(t, bom.Metadata.Component.Name+" "+bom.Metadata.Component.Version, "nbs-worker v"+version, "the subject of the SBOM")
	}
}

func sbomSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	files, err := filepath.Glob(filepath.Join(rig.Root(t), ".cache/cyclonedx/*.schema.json"))
	rig.Must(t, err)
	rig.Check(t, len(files) > 0, "the schema is missing; run: scripts/bootstrap release")
	for _, file := range files {
		var text any
		decode(t, file, &text)
		// They refer to each other by the names that they have where they are published.
		address := "http://cyclonedx.org/schema/" + strings.Replace(filepath.Base(file), ".SNAPSHOT", "", 1)
		rig.Must(t, compiler.AddResource(address, text))
		rig.Must(t, compiler.AddResource("http://cyclonedx.org/schema/"+filepath.Base(file), text))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	rig.Must(t, err)
	return schema
}

// The formula is Ruby, names what is in the release, and installs what is in it, on each system.
func TestFormula(t *testing.T) {
	t.Parallel()
	rig.Needs(t, "ruby")
	formula := filepath.Join(release(t), "nbs-worker.rb")
	rig.Equal(t, succeeds(t, "", "ruby", "-c", formula), "Syntax OK\n", "ruby -c")
	for _, target := range targets {
		name := "nbs-worker-" + version + "-" + target[0] + "-" + target[1] + ".tar.gz"
		sum, _, _ := strings.Cut(succeeds(t, release(t), "sha256sum", name), " ")
		var got struct {
			URL, SHA256, Version string
			Installed            []string
		}
		out := succeeds(t, unpacked(t, target[0], target[1]), "ruby", filepath.Join(rig.Root(t), "internal/e2e/release/testdata/brew.rb"), formula, target[0], target[1])
		rig.Must(t, json.Unmarshal([]byte(out), &got))
		rig.Equal(t, got.URL, made.serve+"/"+version+"/"+name, "the url")
		rig.Equal(t, got.SHA256, sum, "the sum of %s", name)
		rig.Equal(t, got.Version, version, "the version")
		rig.Check(t, len(got.Installed) > 50 && slices.Contains(got.Installed, "bin: bin/nbs-worker"), "it installs %q", got.Installed)
	}
}

// What the Containerfile copies is in the release, and each folder with something to keep is a volume. Its image is not
// built here.
func TestContainerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(release(t), "Containerfile"))
	rig.Must(t, err)
	lines := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(string(text), "")
	words := func(instruction string) []string {
		found := regexp.MustCompile(`(?m)^` + instruction + ` (.+)$`).FindStringSubmatch(lines)
		rig.Check(t, found != nil, "no %s in %s", instruction, lines)
		return strings.Fields(found[1])
	}
	for _, arch := range []string{"amd64", "arm64"} {
		sources := words("COPY")
		for _, source := range sources[:len(sources)-1] {
			source = strings.ReplaceAll(source, "${TARGETARCH}", arch)
			rig.Check(t, e2e.Exists(filepath.Join(release(t), source)), "%s is not in the release", source)
		}
	}
	var volumes []string
	rig.Must(t, json.Unmarshal([]byte(strings.Join(words("VOLUME"), " ")), &volumes))
	const home = "/home/agent"
	rig.Same(t, "the volumes", []string{"/work", home + "/.claude", home + "/.local/state/nbs-worker", home + "/.config/nbs-worker"}, volumes)
	for _, volume := range volumes {
		rig.Check(t, strings.Contains(lines, "mkdir -p") && strings.Contains(strings.SplitN(lines, "mkdir -p", 2)[1], volume), "%s is not made", volume)
	}
	rig.Same(t, "the program", []string{`["nbs-worker"]`}, words("ENTRYPOINT"))
	known := regexp.MustCompile(`(?m)^(#.*|(ARG|FROM|COPY|RUN|USER|ENV|VOLUME|WORKDIR|ENTRYPOINT|CMD) .+|)$`)
	for line := range strings.Lines(lines) {
		rig.Check(t, known.MatchString(strings.TrimSuffix(line, "\n")), "no instruction: %s", line)
	}
}

// The README of a release has no link to a file that is not in it.
func TestReadmeOfTheRelease(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(unpacked(t, "linux", runtime.GOARCH), "README.md"))
	rig.Must(t, err)
	deb := filepath.Join(release(t), "nbs-worker_"+version+"_"+runtime.GOARCH+".deb")
	packed := succeeds(t, "", "sh", "-c", "dpkg-deb --fsys-tarfile "+deb+" | tar -xO ./usr/share/doc/nbs-worker/README.md.gz | gzip -d")
	rig.Equal(t, packed, string(text), "the README of the deb")
	rig.Check(t, strings.Contains(packed, "so does its page\nof the manual. "), "the README has %q", packed)
	links := regexp.MustCompile(`\]\([^)]*\)`).FindAllString(packed, -1)
	rig.Check(t, len(links) == 0, "it has the links %q", links)
}

// The settings of the machine that made the release have not decided how the program was compiled.
func TestProgramIsCompiledAsEverywhere(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(filepath.Join(unpacked(t, "linux", runtime.GOARCH), "bin/nbs-worker"))
	rig.Must(t, err)
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	name, want := "GOAMD64", "v1"
	if runtime.GOARCH == "arm64" {
		name, want = "GOARM64", "v8.0"
	}
	rig.Equal(t, settings[name], want, "%s", name)
	rig.Check(t, settings["GOEXPERIMENT"] == "" && settings["-trimpath"] == "true" && settings["CGO_ENABLED"] == "0", "the settings are %q", settings)
}
