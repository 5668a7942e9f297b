package api

import (
	"net/http"
	"strconv"

	"straggler/report/prose"
)

// replayAnswer is a catalog.Replay.
type replayAnswer struct {
	ID       int      `json:"id"`
	Policies []string `json:"policies"` // empty: the usual ones
	Settings []string `json:"settings"`
	Seeds    int      `json:"seeds"`
	Of       *string  `json:"application,omitempty"` // its key; left out for all
	State    string   `json:"state"`                 // running, done, cancelled or failed
	Share    float64  `json:"share"`
	Error    *string  `json:"error,omitempty"`
}

func (api *API) replays(*http.Request) ([]replayAnswer, error) {
	out := []replayAnswer{}
	for _, p := range api.c.Replays() {
		a := replayAnswer{ID: p.ID, Policies: append([]string{}, p.Options.Policies...),
			Settings: append([]string{}, p.Options.Settings...), Seeds: p.Options.Seeds, State: p.State(), Share: p.Share}
		if k := p.Options.Application; k != 0 {
			text := strconv.FormatInt(k, 10)
			a.Of = &text
		}
		if p.Error != nil && !p.Cancelled {
			text := prose.Clean(p.Error.Error(), prose.TextRunes)
			a.Error = &text
		}
		out = append(out, a)
	}
	return out, nil
}
