// Package kubernetes holds the file for a Kubernetes Job against the types that
// Kubernetes publishes. It is a module of its own, because those are many.
package kubernetes

import (
	"os"
	"strconv"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestJob decodes the file strictly: a key that Job does not have, a key that is
// there twice or a value of another type fails. Then it looks at what a type
// cannot say.
func TestJob(t *testing.T) {
	text, err := os.ReadFile("../../examples/sweep-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job batch.Job
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		t.Fatal(err)
	}
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Name == "" {
		t.Errorf("it is a %s of %s named %q", job.Kind, job.APIVersion, job.Name)
	}
	if m := job.Spec.CompletionMode; m == nil || *m != batch.IndexedCompletion {
		t.Error("only an Indexed Job has JOB_COMPLETION_INDEX")
	}
	pod := job.Spec.Template.Spec
	if pod.RestartPolicy != core.RestartPolicyNever {
		t.Errorf("backoffLimitPerIndex wants restartPolicy Never, not %s", pod.RestartPolicy)
	}
	mounted := map[string]bool{}
	for _, v := range pod.Volumes {
		mounted[v.Name] = true
	}
	shard := pod.Containers[0]
	for _, m := range shard.VolumeMounts {
		if !mounted[m.Name] {
			t.Errorf("nothing is the volume %s", m.Name)
		}
	}
	if n, err := strconv.Atoi(shard.Env[0].Value); err != nil || int32(n) != *job.Spec.Completions {
		t.Errorf("%s shards and %d completions", shard.Env[0].Value, *job.Spec.Completions)
	}
}
