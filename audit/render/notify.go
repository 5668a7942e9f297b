package render

import (
	"fmt"

	"straggler/audit"
	"straggler/notify"
)

// Changes returns the findings of a night to notify about: those that fail the build, and those that are fixed.
func Changes(n *audit.Night, cfg *audit.Config) []notify.Change {
	var out []notify.Change
	for _, j := range n.Runs {
		for i := range j.Findings {
			f := &j.Findings[i]
			c := notify.Change{ID: f.ID, Application: f.Group, Severity: string(f.Severity), Subject: title(f)}
			switch {
			case f.Fails(cfg):
				c.State = notify.Open
				if f.Likely != "" {
					c.Detail = "likely cause: " + f.Likely
				}
			case f.Status == audit.Fixed:
				c.State = notify.Fixed
			default:
				continue
			}
			out = append(out, c)
		}
	}
	return out
}

// Notice returns the message about changes of a night.
func Notice(n *audit.Night, news []notify.Change) *notify.Message {
	open := 0
	for _, c := range news {
		if c.State == notify.Open {
			open++
		}
	}
	return notify.NewMessage("audit", fmt.Sprintf("straggler audit of %s: %d new, %d fixed", n.Date, open, len(news)-open), news)
}
