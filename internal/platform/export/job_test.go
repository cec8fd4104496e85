package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// The job runs the program with its words unchanged, in whatever folder, and reads keys without running them.
func TestSlurmScript(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), odd+quotes)
	keys := filepath.Join(home, ".config", "nbs-worker")
	rig.Must(t, os.MkdirAll(keys, 0o700))
	rig.Must(t, os.WriteFile(filepath.Join(keys, "environment"), []byte("# none\nKEY=a b$(false)\n=x\n"), 0o600))
	program, said := filepath.Join(home, "nbs-worker"), filepath.Join(home, "said")
	rig.WriteProgram(t, program, "#!/bin/sh\nprintf '%s\\n' \"$PWD\" \"$KEY\" \"$ODD\" \"$@\" >\"$HOME\"/said\nexit 7\n")
	job, err := Job{Program: program, Project: home, Handle: "alpha", Env: []string{"ODD=" + odd + quotes}}.Slurm()
	rig.Must(t, err)
	script := filepath.Join(home, job.Name)
	rig.Must(t, os.WriteFile(script, []byte(job.Text), 0o600))
	cmd := exec.Command("bash", script)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "SLURM_CLUSTER_NAME=rig", "SLURM_JOB_NAME=nbs-alpha", "SLURM_JOB_DEPENDENCY=singleton"}
	out, err := cmd.CombinedOutput()
	rig.Check(t, cmd.ProcessState.ExitCode() == 7, "%v: %s", err, out)
	words, err := os.ReadFile(said)
	rig.Must(t, err)
	rig.Same(t, "the words", []string{home, "a b$(false)", odd + quotes, "--root", home, "run", "alpha", "--job", "slurm/rig/nbs-alpha"}, strings.Split(strings.TrimSuffix(string(words), "\n"), "\n"))

	cmd = exec.Command("bash", script)
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "SLURM_JOB_DEPENDENCY=afterok:7"}
	out, _ = cmd.CombinedOutput()
	rig.Check(t, cmd.ProcessState.ExitCode() == 4 && strings.Contains(string(out), "--dependency=singleton"), "without the dependency: %s", out)
	_, err = Job{Project: "/srv/a\nb", Handle: "alpha"}.Slurm()
	rig.Equal(t, fail.KindOf(err), fail.BadInput, "a folder with a line break")
}

// The fields of the two objects, as Kubernetes' own schema names them. A field with another name would be refused there.
type (
	meta struct {
		Name   string            `yaml:"name"`
		Labels map[string]string `yaml:"labels"`
	}
	variable struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
		From  struct {
			Field struct {
				Path string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	}
	mount struct {
		Name    string `yaml:"name"`
		Path    string `yaml:"mountPath"`
		SubPath string `yaml:"subPath"`
	}
	container struct {
		Name    string     `yaml:"name"`
		Image   string     `yaml:"image"`
		Dir     string     `yaml:"workingDir"`
		Command []string   `yaml:"command"`
		Env     []variable `yaml:"env"`
		EnvFrom []struct {
			Secret struct {
				Name     string `yaml:"name"`
				Optional bool   `yaml:"optional"`
			} `yaml:"secretRef"`
		} `yaml:"envFrom"`
		Mounts []mount `yaml:"volumeMounts"`
	}
	claim struct {
		Metadata meta `yaml:"metadata"`
		Spec     struct {
			Modes     []string `yaml:"accessModes"`
			Resources struct {
				Requests map[string]string `yaml:"requests"`
			} `yaml:"resources"`
		} `yaml:"spec"`
	}
	service struct {
		Version  string `yaml:"apiVersion"`
		Kind     string `yaml:"kind"`
		Metadata meta   `yaml:"metadata"`
		Spec     struct {
			IP       string            `yaml:"clusterIP"`
			Selector map[string]string `yaml:"selector"`
		} `yaml:"spec"`
	}
	statefulSet struct {
		Version  string `yaml:"apiVersion"`
		Kind     string `yaml:"kind"`
		Metadata meta   `yaml:"metadata"`
		Spec     struct {
			Service  string `yaml:"serviceName"`
			Replicas int    `yaml:"replicas"`
			Selector struct {
				Labels map[string]string `yaml:"matchLabels"`
			} `yaml:"selector"`
			Template struct {
				Metadata meta `yaml:"metadata"`
				Spec     struct {
					Grace      int         `yaml:"terminationGracePeriodSeconds"`
					Containers []container `yaml:"containers"`
				} `yaml:"spec"`
			} `yaml:"template"`
			Claims []claim `yaml:"volumeClaimTemplates"`
		} `yaml:"spec"`
	}
)

func TestKubernetesManifest(t *testing.T) {
	t.Parallel()
	project := "/srv/" + odd + quotes
	job, err := Job{Program: "nbs-worker", Project: project, Handle: "The_Theologian", Image: "team/agent:1", Env: []string{"HOME=/home/u", "XDG_STATE_HOME=/x$(NAME)"}}.Kubernetes()
	rig.Must(t, err)
	documents := strings.Split(job.Text, "\n---\n")
	rig.Equal(t, len(documents), 2, "documents")
	var s service
	var set statefulSet
	for i, into := range []any{&s, &set} {
		rig.Must(t, yaml.Load([]byte(documents[i]), into, yaml.WithKnownFields()))
	}
	name := strings.TrimSuffix(job.Name, ".yaml")
	app := map[string]string{"app": name}
	rig.Same(t, "the service", []any{"v1", "Service", "None", app}, []any{s.Version, s.Kind, s.Spec.IP, s.Spec.Selector})
	rig.Same(t, "the set", []any{"apps/v1", "StatefulSet", name, name, 1}, []any{set.Version, set.Kind, set.Metadata.Name, set.Spec.Service, set.Spec.Replicas})
	rig.Same(t, "its labels", []any{app, app}, []any{set.Spec.Selector.Labels, set.Spec.Template.Metadata.Labels})
	rig.Check(t, strings.HasPrefix(name, "nbs-the-theologian-") && len(name) <= 52 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "", "the name %q", name)
	pod := set.Spec.Template.Spec
	rig.Equal(t, len(pod.Containers), 1, "containers")
	c := pod.Containers[0]
	rig.Same(t, "the command", []string{"nbs-worker", "--root", project, "run", "The_Theologian", "--job", "kubernetes/$(NBS_NAMESPACE)/" + name}, c.Command)
	rig.Same(t, "the places", []any{"team/agent:1", project, []mount{{"data", project, "project"}, {"data", "/home/u", "home"}}, "data"}, []any{c.Image, c.Dir, c.Mounts, set.Spec.Claims[0].Metadata.Name})
	variables := map[string]string{}
	for _, v := range c.Env {
		variables[v.Name] = v.Value + v.From.Field.Path
	}
	rig.Same(t, "the variables", map[string]string{"NBS_NAMESPACE": "metadata.namespace", "NBS_ROOT": project, "HOME": "/home/u", "XDG_STATE_HOME": "/x$$(NAME)"}, variables)
}
