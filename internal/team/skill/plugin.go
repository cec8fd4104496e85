package skill

import (
	"bytes"
	"encoding/json"
)

// manifest is a plugin's .claude-plugin/plugin.json.
type manifest struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Author      author `json:"author"`
}

type author struct {
	Name string `json:"name"`
}

// market is .claude-plugin/marketplace.json. With it the folder of the plugin can be added as a marketplace, from which
// the plugin is installed.
type market struct {
	Name     string   `json:"name"`
	Owner    author   `json:"owner"`
	Metadata words    `json:"metadata"`
	Plugins  []listed `json:"plugins"`
}

type words struct {
	Description string `json:"description"`
}

type listed struct {
	Name        string `json:"name"`
	Source      string `json:"source"`
	Description string `json:"description"`
}

const summary = "Lets an agent manage its colleagues with nbs-worker."

func manifestOf(version string) manifest {
	return manifest{Name: Name, Version: version, Description: summary, Author: author{Name}}
}

func ourMarket() market {
	return market{Name: Name, Owner: author{Name}, Metadata: words{summary}, Plugins: []listed{{Name, "./", summary}}}
}

// isManifest reports whether nbs-worker wrote a plugin.json, and it is unchanged.
func isManifest(text []byte) bool {
	var m manifest
	return json.Unmarshal(text, &m) == nil && bytes.Equal(text, indented(manifestOf(m.Version)))
}

// isMarket reports whether nbs-worker wrote a marketplace.json, and it is unchanged.
func isMarket(text []byte) bool { return bytes.Equal(text, indented(ourMarket())) }

// indented returns a value of this file as JSON.
func indented(value any) []byte {
	text, _ := json.MarshalIndent(value, "", "  ") // strings alone
	return append(text, '\n')
}
