package spark

import "straggler/schema"

// The state of an application. Attempts are written when they end; after that they take a bit per Task ID, one per task, and
// sixteen bytes per output, so that a stage of five million tasks fits in memory.

// job is a Spark job, or the unknown job of stages whose JobStart the log has lost.
type job struct {
	key         schema.Key
	id          int64 // none until its JobEnd names it
	submit      int64
	finish      int64
	ended       bool
	started     bool // its JobStart is in the log
	status      schema.RunStatus
	description string
	stages      []*stage
	span        span
	query       *query // that it runs for; nil where it runs for none
}

// span is the time from the first launch to the last end of some attempts, in milliseconds.
type span struct{ launch, finish int64 }

func (s *span) launched(ms int64) {
	if ms > 0 && (s.launch == 0 || ms < s.launch) {
		s.launch = ms
	}
}

func (s *span) finished(ms int64) { s.finish = max(s.finish, ms) }

// stage is a Spark stage: what its attempts have in common.
type stage struct {
	stageInfo
	known   bool // its Stage Info is in the log
	kind    taskKind
	jobs    []*job
	phases  []*phase // by their first mention
	outputs *outputs // of its successful tasks; shared with the earlier stage whose outputs it completes
	parent  bool     // another stage reads from it
	unread  bool     // an output of it, or of one of its siblings, could not be fetched
}

// full returns the number of partitions of the complete stage, or 0 if unknown.
func (s *stage) full() int64 {
	n := max(s.RDDs.Partitions, 0)
	if len(s.phases) > 0 {
		n = max(n, s.phases[0].tasks)
	}
	return n
}

// phase is an attempt of a stage.
type phase struct {
	key       schema.Key
	ordinal   uint32 // of the phase in the input; key is its key
	stage     *stage
	job       *job
	attempt   int32
	tasks     int64
	submit    int64
	complete  int64
	submitted bool
	completed bool
	failure   string
	span      span

	before    uint32 // attempts that had ended when it was submitted
	starts    int64
	ends      int64
	recompute bool
	whole     bool    // all its attempts are recomputation, though their partitions are unknown
	missing   []int32 // the partitions that it computes, where the log does not name them and they follow from what is missing
	numbers   numbers
	ready     map[int64]int64 // when tasks that have to run again became ready, in milliseconds
	samples   *samples        // of a phase of a query
}

// executor is an executor between its addition and its removal.
type executor struct {
	ordinal  uint32
	id       string
	host     string
	cores    int64
	profile  int64
	added    int64
	removed  int64
	used     bool  // a task ran on it
	declared bool  // ExecutorAdded named it
	lost     bool  // the outputs on it are gone
	lostAt   int64 // when that, or its end, was noticed, in milliseconds
}

// run is an attempt that has started.
type run struct {
	phase       *phase
	exec        *executor
	host        string
	task        int64 // as its row has it
	partition   int64 // none where it is not known
	launch      int64
	queued      int64
	number      int32
	locality    schema.Locality
	speculative schema.Null[bool]
	recompute   bool
}

// output is the location of the result of a successful task.
type output struct {
	attempt  uint32 // ordinal of the attempt that made it, plus 1
	taskID   uint32 // its Task ID, less the base of its outputs
	executor uint32 // ordinal
	phase    uint32 // ordinal, the top bit says that the output is lost
}

const (
	outputLost  = 1 << 31
	outputsPage = 64
)

func (o *output) isLost() bool        { return o.phase&outputLost != 0 }
func (o *output) phaseOrdinal() int64 { return int64(o.phase &^ outputLost) }

// outputs are the outputs of a stage by partition.
type outputs struct {
	base  int64 // the first Task ID
	count int64
	pages map[uint32]*[outputsPage]output
	last  *[outputsPage]output
	at    uint32 // page of last
}

// find returns the output of a partition, or nil if there is none.
func (o *outputs) find(partition int64) *output {
	if o == nil || partition < 0 || partition > 1<<31 {
		return nil
	}
	page := uint32(partition / outputsPage)
	if o.last == nil || o.at != page {
		p := o.pages[page]
		if p == nil {
			return nil
		}
		o.last, o.at = p, page
	}
	out := &o.last[partition%outputsPage]
	if out.attempt == 0 {
		return nil
	}
	return out
}

// put stores the output of a partition and returns the number of pages that it added.
func (o *outputs) put(partition int64, out output) (pages int) {
	if partition < 0 || partition > 1<<31 {
		return 0
	}
	page := uint32(partition / outputsPage)
	if o.last == nil || o.at != page {
		p := o.pages[page]
		if p == nil {
			p = new([outputsPage]output)
			if o.pages == nil {
				o.pages = make(map[uint32]*[outputsPage]output)
			}
			o.pages[page] = p
			pages = 1
		}
		o.last, o.at = p, page
	}
	old := &o.last[partition%outputsPage]
	if old.attempt == 0 {
		o.count++
	}
	*old = out
	return pages
}

// idSet is a set of ids that are mostly consecutive.
type idSet struct {
	pages map[int64]*[idPage / 64]uint64
	last  *[idPage / 64]uint64
	at    int64
}

const (
	idPage     = 4096
	maxIDPages = 1 << 16 // 268 million ids in 32 MiB
)

// add adds an id and reports whether it is new. Past its bound every id is.
func (s *idSet) add(id int64) bool {
	page, bit := id/idPage, id%idPage
	if s.last == nil || s.at != page {
		p := s.pages[page]
		if p == nil {
			if len(s.pages) >= maxIDPages {
				return true
			}
			if s.pages == nil {
				s.pages = make(map[int64]*[idPage / 64]uint64)
			}
			p = new([idPage / 64]uint64)
			s.pages[page] = p
		}
		s.last, s.at = p, page
	}
	word, mask := &s.last[bit/64], uint64(1)<<(bit%64)
	if *word&mask != 0 {
		return false
	}
	*word |= mask
	return true
}

// has reports whether an id was added.
func (s *idSet) has(id int64) bool {
	p := s.pages[id/idPage]
	return p != nil && p[id%idPage/64]>>(id%idPage%64)&1 == 1
}
