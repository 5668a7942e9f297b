package schema

import "regexp"

// Node returns the physical machine of a container or slot whose name contains it, as in worker1-container-4-7, slot1_2@host
// and host:40123; otherwise "".
func Node(machine string) string {
	m := nodeName.FindStringSubmatch(machine)
	if m == nil {
		return ""
	}
	return m[1] + m[2] + m[3]
}

var nodeName = regexp.MustCompile(`^(?:slot[0-9_]+@(.+)|([^:]+):\d{1,5}|(.+?)[-_.](?:container|executor|slot)[-_]?\d[\d_-]*)$`)
