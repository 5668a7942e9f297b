package spark

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"straggler/ingest"
)

// Spark writes a log as one file, or as a directory of files:
//
//	EVENT_LOG_1 SPARK_VERSION_1.0.0 COMPRESSION_CODEC_… APPLICATION_COMPLETE    Spark 1.0 to 1.2
//	appstatus_<app> events_1_<app>.zstd events_2_<app>.zstd …                   rolling, since 3.0, the default since 4.0
//	eventlog-2024-01-31--10-00.gz … eventlog                                    Databricks
var (
	rolledName    = regexp.MustCompile(`^events_(\d{1,9})_(.+?)((?:\.(?:lz4|lzf|snappy|zstd|zst|gz|bz2|xz|inprogress))*)(\.compact)?((?:\.(?:zst|gz|bz2|xz))*)$`)
	appStatusName = regexp.MustCompile(`^appstatus_(.+?)(\.inprogress)?$`)
	numberedName  = regexp.MustCompile(`^EVENT_LOG_(\d{1,9})$`)
	// applicationID matches an id of Spark's cluster managers, with the number of the application's attempt if there are
	// several.
	applicationID  = regexp.MustCompile(`^(?:app-\d{14}-\d{4,}|application_\d+_\d+|local-\d+|spark-[0-9a-f]{32}|spark-application-\d+)(?:_\d+)?$`)
	databricksName = regexp.MustCompile(`^eventlog(-\d{4}-\d{2}-\d{2}--\d{2}-\d{2})?(\.(gz|zst|zstd|bz2|xz))?$`)
)

const (
	rollingPrefix = "eventlog_v2_"
	versionPrefix = "SPARK_VERSION_"
)

// claim groups the files of a directory that are one log.
func claim(dir ingest.Dir) []ingest.Group {
	groups := claimRolling(dir)
	if g, ok := claimNumbered(dir); ok {
		groups = append(groups, g)
	}
	if g, ok := claimDatabricks(dir); ok {
		groups = append(groups, g)
	}
	for i := range groups {
		groups[i].Drop = append(groups[i].Drop, checksums(slices.Concat(groups[i].Names, groups[i].Drop), dir.Names)...)
	}
	return groups
}

// checksums returns the files that Hadoop puts beside files of that name on a local disk.
func checksums(names, all []string) (found []string) {
	for _, name := range names {
		if sum := "." + name + ".crc"; slices.Contains(all, sum) {
			found = append(found, sum)
		}
	}
	return found
}

// rolledFile is a file of a rolling log.
type rolledFile struct {
	name    string
	app     string
	index   int
	compact bool // it stands for all files up to its index
}

func claimRolling(dir ingest.Dir) []ingest.Group {
	base := path.Base(dir.Path)
	byApp := map[string][]rolledFile{}
	var apps []string
	status := map[string][]string{}
	for _, name := range dir.Names {
		if f, ok := parseRolled(name); ok {
			if byApp[f.app] == nil {
				apps = append(apps, f.app)
			}
			byApp[f.app] = append(byApp[f.app], f)
		} else if m := appStatusName.FindStringSubmatch(name); m != nil {
			status[m[1]] = append(status[m[1]], name)
		}
	}
	var groups []ingest.Group
	for _, app := range apps {
		if !strings.HasPrefix(base, rollingPrefix) && status[app] == nil && !applicationID.MatchString(app) {
			continue // the names alone say too little
		}
		g := ingest.Group{Base: rollingPrefix + app, Drop: status[app]}
		for _, f := range byApp[app] {
			if f.superseded(byApp[app]) {
				g.Drop = append(g.Drop, f.name)
			}
		}
		slices.SortFunc(byApp[app], func(a, b rolledFile) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.name, b.name)) })
		for _, f := range byApp[app] {
			if !f.superseded(byApp[app]) {
				g.Names = append(g.Names, f.name)
				g.Rewritten = g.Rewritten || f.compact
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// superseded reports whether a compacted file replaces f, which Spark may have failed to delete.
func (f rolledFile) superseded(all []rolledFile) bool {
	for _, c := range all {
		if c.compact && (f.index < c.index || f.index == c.index && !f.compact) {
			return true
		}
	}
	return false
}

func claimNumbered(dir ingest.Dir) (ingest.Group, bool) {
	g := ingest.Group{Base: path.Base(dir.Path)}
	for _, name := range dir.Names {
		switch {
		case numberedName.MatchString(name):
			g.Names = append(g.Names, name)
		case strings.HasPrefix(name, "COMPRESSION_CODEC_"), name == "APPLICATION_COMPLETE":
			g.Drop = append(g.Drop, name)
		}
	}
	slices.SortFunc(g.Names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	found := len(g.Names) > 0
	for _, name := range dir.Names {
		if strings.HasPrefix(name, versionPrefix) {
			g.Names = append(g.Names, name) // empty; its name is what it says
		}
	}
	return g, found
}

func claimDatabricks(dir ingest.Dir) (ingest.Group, bool) {
	g := ingest.Group{Base: path.Base(dir.Path)}
	var current []string
	for _, name := range dir.Names {
		switch m := databricksName.FindStringSubmatch(name); {
		case m == nil:
		case m[1] == "":
			current = append(current, name)
		default:
			g.Names = append(g.Names, name) // sorted as their dates are
		}
	}
	g.Names = append(g.Names, current...)
	return g, len(g.Names) > 0
}

// partial finds the missing parts of a rolling log from the names of the others.
func partial(parts []ingest.Part) (notes []note) {
	var files []rolledFile
	for _, p := range parts {
		if f, ok := parseRolled(path.Base(p.Name)); ok {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil
	}
	next := 1
	if files[0].compact {
		next = files[0].index
		notes = append(notes, note{"compacted", 0, "the log was compacted: Spark has removed its finished jobs and the executors that were gone by then"})
	}
	missing := int64(0)
	for _, f := range files {
		missing += int64(max(f.index-next, 0))
		next = max(next, f.index+1)
	}
	if missing > 0 {
		notes = append(notes, note{"files_missing", missing, "files of the rolling log are missing; what they say is not in the rows"})
	}
	return notes
}

func parseRolled(name string) (rolledFile, bool) {
	m := rolledName.FindStringSubmatch(name)
	if m == nil {
		return rolledFile{}, false
	}
	n, err := strconv.Atoi(m[1])
	return rolledFile{name: name, app: m[2], index: n, compact: m[4] != ""}, err == nil
}

// note is a caveat about the input as a whole.
type note struct {
	code   string
	count  int64
	detail string
}
