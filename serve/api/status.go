package api

import (
	"net/http"

	"straggler/report/prose"
)

// statusAnswer is the progress and the problems of the catalog.
type statusAnswer struct {
	Applications int      `json:"applications"`
	Judged       bool     `json:"judged"`  // what they lost is known
	Reading      bool     `json:"reading"` // logs are being read
	Waiting      int      `json:"waiting"` // logs that were found and not read yet
	Done         int      `json:"done"`    // logs of this round that were read
	Of           int      `json:"of"`
	Bytes        int64    `json:"bytes"` // of their files
	TotalBytes   int64    `json:"total_bytes"`
	Doing        string   `json:"doing"` // what is being computed
	Failed       int      `json:"failed"`
	Problems     []string `json:"problems"`
	Words        string   `json:"words"` // the same for people; "" when nothing is going on
}

func (api *API) status(w http.ResponseWriter, r *http.Request) {
	apps, judged := api.c.Applications()
	st := api.c.Status()
	a := statusAnswer{Applications: len(apps), Judged: judged, Reading: st.Reading, Waiting: len(st.Waiting) + st.More,
		Done: st.Progress.Done, Of: st.Progress.Inputs,
		Bytes: st.Progress.Bytes, TotalBytes: st.Progress.Total, Doing: st.Doing, Failed: len(st.Failed), Problems: []string{}}
	for _, p := range st.Problems {
		a.Problems = append(a.Problems, p.Task+": "+prose.Clean(p.Error.Error(), prose.TextRunes))
	}
	switch {
	case st.Reading:
		a.Words = "Reading " + prose.Plural(int64(a.Waiting), "log", "logs")
		if a.TotalBytes > 0 {
			a.Words += ": " + prose.Bytes(float64(a.Bytes)) + " of " + prose.Bytes(float64(a.TotalBytes)) + " of this round"
		}
	case st.Doing != "":
		a.Words = prose.Upper(st.Doing) + " …"
	}
	writeJSON(w, http.StatusOK, a)
}
