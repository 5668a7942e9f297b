package sharing

import (
	"fmt"
	"strconv"

	"straggler/report/prose"
)

// Words describes what the slow tasks of a run have in common, and how many there are.
func Words(found []Feature, tasks, slow int64, tookS float64) (words []string) {
	if tasks == 0 || slow == 0 {
		return nil
	}
	all := fmt.Sprintf("%s of %s are slower than usual", prose.Count(slow), prose.Plural(tasks, "task", "tasks"))
	if len(found) == 0 {
		all += ": no machine, rack, source, table, stage or time sets them apart"
		if 4*slow >= 3*tasks {
			all += "; what slowed them, all of the run shared"
		}
		return []string{all + "."}
	}
	words = append(words, all+".")
	for i := 0; i < len(found); {
		s, end := &found[i], i+1
		for end < len(found) && s.Alike && found[end].Alike && found[end].OfTasks() == s.OfTasks() {
			end++
		}
		what := s.words(tookS)
		for k := i + 1; k < end; k++ {
			what += " or " + found[k].words(tookS)
		}
		text := fmt.Sprintf("What the slow tasks have in common: %s: %s of %s slow; of the others %s of %s", what,
			prose.Count(s.Slow), prose.Plural(s.Tasks, "task", "tasks"),
			prose.Count(s.OtherSlow), prose.Count(s.OtherTasks))
		if s.Alike {
			text += ". Which of these it is cannot be told: they explain the slow tasks alike"
		}
		words = append(words, text+".")
		i = end
	}
	return words
}

func (s *Feature) words(tookS float64) string {
	const most = 3
	var names []string
	for _, v := range s.Values[:min(len(s.Values), most)] {
		names = append(names, prose.Name(v))
	}
	if n := int64(len(s.Values) - most); n > 0 {
		names = append(names, prose.Plural(n, "other", "others"))
	}
	list := prose.Join(names)
	switch s.Dimension {
	case "time":
		from, _ := strconv.Atoi(s.Values[0])
		until, _ := strconv.Atoi(s.Values[1])
		at := func(k int) string { return prose.Seconds(tookS * float64(k) / sixteenths) }
		return fmt.Sprintf("they started between %s and %s after the run did", at(from), at(until))
	case "source":
		return "they read most of their input from " + list
	case "table":
		return "their stages read " + list
	case "file system":
		return "their stages read from the file system " + list
	case Stage:
		return "their stage, " + list
	case Rack:
		return "the rack " + list
	}
	return "the " + s.Dimension + " " + list
}
