package schema

import "testing"

// Physical machines, from names of containers and slots that say them.
func TestNode(t *testing.T) {
	for name, want := range map[string]string{"worker1-container-4-7": "worker1", "poseidon-worker-2-container-44-47": "poseidon-worker-2", "slot1_2@host.example.org": "host.example.org",
		"host3:40123": "host3", "ip-10-0-0-1": "", "worker-2": "", "spark-executor": "", "::1": ""} {
		if got := Node(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
