package strictyaml

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestAllMistakesAreToldWithTheirPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "",
		"name: x\nlist: [a, b]":      "",
		"nam: x":                     `things "f", line 1, column 1: file: there is no field "nam"; did you mean name?`,
		"other: x":                   `things "f", line 1, column 1: file: there is no field "other"; there are name, list`,
		"name: x\nname: y":           `things "f", line 2, column 1: file: name is there twice`,
		"- a":                        `things "f", line 1, column 1: file: fields belong here: name, list`,
		"name: [":                    `things "f", line 2, column 1: did not find`,
		"name: x\n---\nname: y":      `things "f", line 2, column 1: there is a second document; one is read`,
		"list: [{}]\nname: \nfoo: 1": "things \"f\", 3 mistakes\nline 1, column 8: a text belongs here\nline 2, column 6: a text belongs here\nline 3, column 1: file: there is no field",
	} {
		var name string
		var list []string
		err := Read("things", "f", []byte(text), func(r *Reader, root *yaml.Node) {
			has := r.Fields(root, "file", "name", "list")
			if node := has["name"]; node != nil {
				name = r.Text(node)
			}
			if node := has["list"]; node != nil {
				list = r.Texts(node)
			}
		})
		if want != "" {
			rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.HasPrefix(err.Error(), want), "%q: %v; want %s", text, err, want)
			continue
		}
		rig.Must(t, err)
		rig.Check(t, text == "" || name == "x" && slices.Equal(list, []string{"a", "b"}), "%q: %q, %q", text, name, list)
	}
}
