package ui

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"nbs-worker/internal/fail"
)

// VersionLine returns a version as it is printed.
func VersionLine(version string) string { return "nbs-worker " + version }

// Release returns the version of this program, without that of Go.
func (f *Factory) Release() string {
	release, _, _ := strings.Cut(f.Version, " ")
	return release
}

// Error messages of the libraries, in our words.

// InOurWords rewrites an error of the command line without internal names.
func InOurWords(err error) error {
	if _, atWork := errors.AsType[*VerbError](err); atWork {
		return err
	}
	text := err.Error()
	exclusive := regexp.MustCompile(`^if any flags in the group \[[^\]]*\] are set none of the others can be; \[([^\]]*)\] were all set$`)
	if found := exclusive.FindStringSubmatch(text); found != nil {
		names := strings.Fields(found[1])
		for i := range names {
			names[i] = "--" + names[i]
		}
		return fail.Errorf(fail.BadInput, "%s exclude each other", strings.Join(names, " and "))
	}
	return err
}

// FlagError describes what is wrong with a flag of a verb.
func FlagError(err error) string {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		kind := cmp.Or(valueKinds[bad.GetFlag().Value.Type()], "a value that it takes: "+bad.Unwrap().Error())
		return fmt.Sprintf("--%s %q is not %s", bad.GetFlag().Name, bad.GetValue(), kind)
	}
	named, ok := errors.AsType[interface {
		error
		GetSpecifiedName() string
		GetSpecifiedShortnames() string // "" for a long name
	}](err)
	if !ok {
		return err.Error()
	}
	name := "--" + named.GetSpecifiedName()
	if named.GetSpecifiedShortnames() != "" {
		name = name[1:]
	}
	if _, lacksValue := errors.AsType[*pflag.ValueRequiredError](err); lacksValue {
		return name + " needs a value"
	}
	return "unknown flag " + name
}

// valueKinds describes the values of flags, by flag type.
var valueKinds = map[string]string{"duration": "a time such as 90s or 10m", "bool": "true or false", "int": "a whole number"}

// Relative returns a folder as seen from the project, if it is inside or beside it.
func Relative(project, folder string) string {
	from, err := filepath.Rel(project, folder)
	if err != nil || strings.HasPrefix(from, "../../") || len(from) >= len(folder) {
		return folder
	}
	return from
}
