package export

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Kubernetes returns the manifest of a StatefulSet with one pod, which runs one agent, and of the volume for the
// project and the home folder. Errors: BadInput.
func (j Job) Kubernetes() (Unit, error) {
	if j.Image == "" || strings.ContainsFunc(j.Image, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return Unit{}, fail.Errorf(fail.BadInput, "an image is needed for the container, not %s", human.Quote(j.Image)).
			Hint("name one with nbs-worker, claude, tmux and git: --image registry.example.org/team/agent:1")
	}
	name := j.podName()
	home := "/root"
	var env strings.Builder
	for _, variable := range j.Env {
		key, value, _ := strings.Cut(variable, "=")
		if key == "HOME" {
			home = value
		}
		env.WriteString("            - name: " + key + "\n              value: " + manifestWord(value) + "\n")
	}
	return Unit{name + ".yaml", strings.Replace(mark, "systemd", "kubernetes", 1) +
		"# Generated, not run: nbs-worker is not tested on Kubernetes.\n" + strings.NewReplacer(
		"@NAME@", name, "@IMAGE@", jsonWord(j.Image), "@PROGRAM@", manifestWord(j.Program), "@PROJECT@", jsonWord(j.Project), "@ROOT@", manifestWord(j.Project),
		"@AGENT@", string(j.Handle), "@HANDLE@", jsonWord(string(j.Handle)), "@HOME@", jsonWord(home), "@ENV@\n", env.String(),
	).Replace(manifest)}, nil
}

// manifest is a template. A pod of a StatefulSet is replaced only after the one before it has ended, as run --job
// demands.
const manifest = `#
# Before the first start, copy the project and your home folder's ~/.claude,
# ~/.claude.json and ~/.local/state/nbs-worker into the volume: below project
# and below home. API keys go into a secret:
#   kubectl create secret generic nbs-worker-environment --from-env-file=FILE
# The terminal: kubectl exec -it @NAME@-0 -- nbs-worker attach @AGENT@
apiVersion: v1
kind: Service
metadata:
  name: @NAME@
spec:
  clusterIP: None
  selector:
    app: @NAME@
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: @NAME@
spec:
  serviceName: @NAME@
  replicas: 1
  selector:
    matchLabels:
      app: @NAME@
  template:
    metadata:
      labels:
        app: @NAME@
    spec:
      terminationGracePeriodSeconds: 90
      containers:
        - name: agent
          image: @IMAGE@
          workingDir: @PROJECT@
          command: [@PROGRAM@, "--root", @ROOT@, "run", @HANDLE@, "--job", "kubernetes/$(NBS_NAMESPACE)/@NAME@"]
          env:
            - name: NBS_NAMESPACE
              valueFrom:
                fieldRef:
                  fieldPath: metadata.namespace
            - name: NBS_ROOT
              value: @ROOT@
@ENV@
          envFrom:
            - secretRef:
                name: nbs-worker-environment
                optional: true
          volumeMounts:
            - name: data
              mountPath: @PROJECT@
              subPath: project
            - name: data
              mountPath: @HOME@
              subPath: home
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOncePod]
        resources:
          requests:
            storage: 10Gi
`

// podName returns a name that Kubernetes takes: letters in lower case, digits and dashes, few enough for the names that
// it makes from it.
func (j Job) podName() string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(string(j.Handle)))
	const most = 30
	return "nbs-" + strings.Trim(plain[:min(len(plain), most)], "-") + "-" + hash(filepath.Join(j.Project, string(j.Handle)))
}

// jsonWord returns a word of a manifest, which is YAML and takes JSON.
func jsonWord(word string) string {
	text, _ := json.Marshal(word) // a string always has a form
	return string(text)
}

// manifestWord is jsonWord where Kubernetes expands $(NAME).
func manifestWord(word string) string { return jsonWord(strings.ReplaceAll(word, "$(", "$$(")) }
