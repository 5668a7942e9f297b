package api

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// sparkApplication is ApplicationInfo.
type sparkApplication struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Attempts []sparkAttempt `json:"attempts"`
	Key      string         `json:"stragglerKey"` // of the pages
}

type sparkAttempt struct {
	StartTime        string `json:"startTime"`
	EndTime          string `json:"endTime"`
	LastUpdated      string `json:"lastUpdated"`
	Duration         int64  `json:"duration"`
	SparkUser        string `json:"sparkUser"`
	Completed        bool   `json:"completed"`
	AppSparkVersion  string `json:"appSparkVersion"`
	StartTimeEpoch   int64  `json:"startTimeEpoch"`
	EndTimeEpoch     int64  `json:"endTimeEpoch"`
	LastUpdatedEpoch int64  `json:"lastUpdatedEpoch"`
}

// Spark's values for unknown times.
const (
	noTime      = "1969-12-31T23:59:59.999GMT"
	noTimeEpoch = -1
)

func sparkTime(t schema.Null[schema.Time]) (string, int64) {
	if !t.OK {
		return noTime, noTimeEpoch
	}
	return time.UnixMicro(int64(t.V)).UTC().Format("2006-01-02T15:04:05.000") + "GMT", int64(t.V) / 1000
}

// optionalTime returns nil for an unknown time, which Spark omits.
func optionalTime(t schema.Null[schema.Time]) *string {
	if !t.OK {
		return nil
	}
	s, _ := sparkTime(t)
	return &s
}

func newSparkApplication(a *report.Application, id string) sparkApplication {
	s := sparkApplication{ID: id, Name: a.Name.V, Key: strconv.FormatInt(a.ApplicationID, 10)}
	if !a.Name.OK {
		s.Name = a.NativeID
	}
	t := sparkAttempt{SparkUser: a.User.V, Completed: a.FinishTime.OK, AppSparkVersion: a.FrameworkVersion.V}
	t.StartTime, t.StartTimeEpoch = sparkTime(a.StartTime)
	t.EndTime, t.EndTimeEpoch = sparkTime(a.FinishTime)
	t.LastUpdated, t.LastUpdatedEpoch = t.EndTime, t.EndTimeEpoch
	if d := a.TookS(); d.OK {
		t.Duration = int64(d.V * 1000)
	}
	s.Attempts = []sparkAttempt{t}
	return s
}

// dateBounds are Spark's parameters that bound an application's start and end.
var dateBounds = []struct {
	name       string
	end, upper bool
}{{"minDate", false, false}, {"maxDate", false, true}, {"minEndDate", true, false}, {"maxEndDate", true, true}}

// within reports whether the start and end of an application are within the bounds of a request, each a day or a time with its
// zone, as in Spark. An application that has not ended is in no range of ends.
func within(r *http.Request, a *report.Application) (bool, error) {
	for _, b := range dateBounds {
		text := r.FormValue(b.name)
		if text == "" {
			continue
		}
		bound, err := time.Parse("2006-01-02", text)
		if err == nil && b.upper {
			bound = bound.Add(24*time.Hour - time.Millisecond)
		}
		if err != nil {
			if bound, err = time.Parse("2006-01-02T15:04:05.000MST", text); err != nil {
				return false, fmt.Errorf("%w: %s is a day such as 2015-02-10 or a time such as 2015-02-03T16:42:40.000GMT", ErrParameter, b.name)
			}
		}
		at := a.StartTime
		if b.end {
			at = a.FinishTime
		}
		if limit := schema.Time(bound.UnixMicro()); !at.OK || b.upper && at.V > limit || !b.upper && at.V < limit {
			return false, nil
		}
	}
	return true, nil
}

// ofStatus reports whether a request has no parameter status, or this one; known are the valid ones.
func ofStatus(r *http.Request, status string, known ...string) (bool, error) {
	statuses := r.URL.Query()["status"]
	for _, s := range statuses {
		if !slices.Contains(known, strings.ToLower(s)) {
			return false, fmt.Errorf("%w: status is one of %s", ErrParameter, strings.Join(known, ", "))
		}
	}
	return len(statuses) == 0 || slices.ContainsFunc(statuses, func(s string) bool { return strings.EqualFold(s, status) }), nil
}

// applications lists applications, with Spark's parameters status, limit and dateBounds.
func (api *API) applications(r *http.Request) ([]sparkApplication, error) {
	apps, _ := api.c.Applications()
	count, limit := nativeIDs(apps), len(apps)
	if text := r.FormValue("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%w: limit is a number", ErrParameter)
		}
		limit = min(n, limit)
	}
	out := []sparkApplication{}
	for i := range apps {
		if len(out) == limit {
			break
		}
		status := map[bool]string{true: "completed", false: "running"}[apps[i].FinishTime.OK]
		matches, err := ofStatus(r, status, "completed", "running")
		if err != nil {
			return nil, err
		}
		inside, err := within(r, &apps[i])
		if err != nil {
			return nil, err
		}
		if !matches || !inside {
			continue
		}
		out = append(out, newSparkApplication(&apps[i], apiID(&apps[i], count)))
	}
	return out, nil
}

func (api *API) application(r *http.Request) (sparkApplication, error) {
	a, err := api.native(r)
	if err != nil {
		return sparkApplication{}, err
	}
	apps, _ := api.c.Applications()
	return newSparkApplication(a, apiID(a, nativeIDs(apps))), nil
}

// plainID matches the ids that clients can put into an address: they do not escape a slash.
var plainID = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.:-]*$`)

// apiID returns the id with which the API lists an application: the framework's, or the application's key if the framework's is
// not unique or not a plainID.
func apiID(a *report.Application, count map[string]int) string {
	if count[a.NativeID] > 1 || !plainID.MatchString(a.NativeID) {
		return strconv.FormatInt(a.ApplicationID, 10)
	}
	return a.NativeID
}

// nativeIDs counts the applications with each id.
func nativeIDs(apps []report.Application) map[string]int {
	count := make(map[string]int, len(apps))
	for i := range apps {
		count[apps[i].NativeID]++
	}
	return count
}

// native finds the application of a request by its key, or by the framework's id if only one application has it.
func (api *API) native(r *http.Request) (*report.Application, error) {
	apps, _ := api.c.Applications()
	id := r.PathValue("id")
	var found []*report.Application
	for i := range apps {
		if strconv.FormatInt(apps[i].ApplicationID, 10) == id {
			return &apps[i], nil
		}
		if apps[i].NativeID == id {
			found = append(found, &apps[i])
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: unknown app: %s", report.ErrNoRow, prose.Clean(id, prose.NameRunes))
	case 1:
		return found[0], nil
	}
	var keys []string
	for _, a := range found[:min(len(found), 10)] {
		keys = append(keys, strconv.FormatInt(a.ApplicationID, 10))
	}
	return nil, fmt.Errorf("%w: ask with a key in place of %s: %s", errSeveral, prose.Clean(id, prose.NameRunes), strings.Join(keys, ", "))
}

// sparkVersion is VersionInfo: the release of Spark whose API this one follows.
type sparkVersion struct {
	Spark string `json:"spark"`
}

func (api *API) version(*http.Request) (sparkVersion, error) { return sparkVersion{"3.5.6"}, nil }
