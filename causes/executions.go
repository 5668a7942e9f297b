package causes

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

//go:embed executions.sql
var executionsSQL string

// execution is a phase of the store, as far as skew_repeats need it. There are many of them, so they are small and have no
// pointers.
type execution struct {
	phase, application schema.Key
	stage, native      int32 // numbers of its stage's names and of its native id
	counts             bool
}

// executions holds all phases of the store, by key, and the names of their stages, by number.
type executions struct {
	all    []execution
	stages []*namedStage
}

// readExecutions reads all phases of the store, since those whose results are kept count as executions too. They are joined and
// sorted here because the engine would take longer for that than the rest of the work takes.
func (r *run) readExecutions(ctx context.Context) error {
	programs, err := r.programs(ctx)
	if err != nil {
		return err
	}
	type row struct {
		ID          schema.Key          `col:"phase_id"`
		Application schema.Key          `col:"application_id"`
		Native      string              `col:"native_id"`
		Kind        string              `col:"kind"`
		Name        schema.Null[string] `col:"name"`
		IsFirst     bool                `col:"is_first"`
	}
	x := &r.repeats.executions
	stages, natives := namedStages{}, map[string]int32{}
	for p, err := range engine.Read[row](ctx, r.eng, executionsSQL) {
		if err != nil {
			return err
		}
		program, ok := programs[p.Application]
		if !ok {
			continue
		}
		stage := stages.of(stageNames{program, p.Kind, p.Name})
		if int(stage.number) == len(x.stages) {
			x.stages = append(x.stages, stage)
		}
		native, ok := natives[p.Native]
		if !ok {
			native = int32(len(natives))
			natives[strings.Clone(p.Native)] = native
		}
		x.all = append(x.all, execution{p.ID, p.Application, stage.number, native, p.IsFirst})
	}
	x.all = inKeyOrder(x.all)
	return r.countExecutions(ctx)
}

// programs reads the names of the applications.
func (r *run) programs(ctx context.Context) (map[schema.Key]schema.Null[string], error) {
	type row struct {
		ID   schema.Key          `col:"application_id"`
		Name schema.Null[string] `col:"name"`
	}
	out := map[schema.Key]schema.Null[string]{}
	for a, err := range engine.Read[row](ctx, r.eng, "SELECT application_id, name FROM applications") {
		if err != nil {
			return nil, err
		}
		out[a.ID] = schema.Null[string]{V: strings.Clone(a.Name.V), OK: a.Name.OK}
	}
	return out, nil
}

// countExecutions marks the executions that have attempts; only they are counted.
func (r *run) countExecutions(ctx context.Context) error {
	type row struct {
		ID schema.Key `col:"phase_id"`
	}
	all := r.repeats.executions.all
	ran, at := make([]bool, len(all)), -1
	for s, err := range engine.Read[row](ctx, r.eng, "SELECT phase_id FROM phase_stats WHERE attempts > 0") {
		if err != nil {
			return err
		}
		if at++; at >= len(all) || all[at].phase != s.ID { // they mostly lie in the order of their keys
			at, _ = slices.BinarySearchFunc(all, s.ID, func(e execution, key schema.Key) int { return cmp.Compare(e.phase, key) })
		}
		if at < len(all) && all[at].phase == s.ID {
			ran[at] = true
		}
	}
	for i := range all {
		all[i].counts = all[i].counts && ran[i]
	}
	return nil
}

// inKeyOrder sorts executions by key. Those of one input are mostly contiguous and sorted, and so are its keys: then only the
// inputs are sorted.
func inKeyOrder(all []execution) []execution {
	var inputs [][]execution
	for rest := all; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n-1].phase < rest[n].phase {
			n++
		}
		inputs, rest = append(inputs, rest[:n]), rest[n:]
	}
	slices.SortFunc(inputs, func(a, b []execution) int { return cmp.Compare(a[0].phase, b[0].phase) })
	out := slices.Concat(inputs...)
	if byKey := func(a, b execution) int { return cmp.Compare(a.phase, b.phase) }; !slices.IsSortedFunc(out, byKey) {
		slices.SortFunc(out, byKey)
	}
	return out
}

// stageNames are what executions of a stage share, besides their exchanges.
type stageNames struct {
	program schema.Null[string]
	kind    string
	name    schema.Null[string]
}

// namedStage has the signature of its names.
type namedStage struct {
	stageNames
	signature uint64 // 0 of a program without a name
	number    int32  // from 0
}

// namedStages interns names: they repeat, and a substring would keep the whole row that it was read with in memory.
type namedStages map[stageNames]*namedStage

// of returns the stage with some names, which it copies if it keeps them.
func (m namedStages) of(n stageNames) *namedStage {
	s := m[n]
	if s == nil {
		n.program.V, n.kind, n.name.V = strings.Clone(n.program.V), strings.Clone(n.kind), strings.Clone(n.name.V)
		s = &namedStage{stageNames: n, number: int32(len(m))}
		if n.program.OK {
			s.signature = signature(n.program.V, n.kind, n.name.V)
		}
		m[n] = s
	}
	return s
}

// stageExecutions is a stage: the ordinal is its position among the stages of the same name, or exchanges, in an application,
// or 0 for all of them. A program may run several stages of the same name, and skew in the second of them today is compared
// with the second one of yesterday.
type stageExecutions struct {
	signature  uint64
	ordinal    int32
	all        int64 // number of the stage of ordinal 0
	executions int64
}

// stageNumbers assigns each phase the number of its stage.
type stageNumbers struct {
	stages []stageExecutions
	of     []int64 // of each execution
	// signatures of stages whose partitions adaptive execution coalesced or split in any execution
	merged map[uint64]bool
}

// number numbers the stages of the same name, or exchanges, within each application, in the order of their keys; resubmissions
// of a stage share its number. It also counts the executions.
func (x *executions) number(reads map[schema.Key]exchangeRead) *stageNumbers {
	type submission struct {
		signature uint64
		native    int32
	}
	type stages struct {
		numbers     []int64 // by ordinal
		application schema.Key
		last        int // ordinal in this application
	}
	out := &stageNumbers{of: make([]int64, len(x.all)), merged: map[uint64]bool{}}
	bySignature := map[uint64]*stages{}
	add := func(s *stages, signature uint64) {
		n := int64(len(out.stages))
		s.numbers = append(s.numbers, n)
		out.stages = append(out.stages, stageExecutions{signature: signature, ordinal: int32(len(s.numbers) - 1), all: s.numbers[0]})
	}
	seen := map[submission]int64{} // of one application
	application := schema.Key(0)
	for _, i := range x.byApplication() {
		p := &x.all[i]
		if p.application != application {
			application = p.application
			clear(seen)
		}
		signature := x.stages[p.stage].signature
		if e := reads[p.phase]; e.signature() != 0 {
			signature = e.signature()
			out.merged[signature] = out.merged[signature] || e.merged
		}
		n, again := seen[submission{signature, p.native}]
		if !again {
			s := bySignature[signature]
			if s == nil {
				s = &stages{}
				bySignature[signature] = s
				add(s, signature)
			}
			if s.application != application {
				s.application, s.last = application, 0
			}
			if s.last++; s.last == len(s.numbers) {
				add(s, signature)
			}
			n = s.numbers[s.last]
			seen[submission{signature, p.native}] = n
		}
		out.of[i] = n
		if p.counts {
			out.stages[n].executions++
			out.stages[out.stages[n].all].executions++
		}
	}
	return out
}

// ranks returns the rank of each stage in the order of signature and ordinal.
func (s *stageNumbers) ranks() []int {
	order, ranks := make([]int, len(s.stages)), make([]int, len(s.stages))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &s.stages[i], &s.stages[j]
		return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.ordinal, b.ordinal))
	})
	for rank, i := range order {
		ranks[i] = rank
	}
	return ranks
}

// byApplication returns the indices of the phases, sorted by application and then by key.
func (x *executions) byApplication() []int32 {
	order := make([]int32, len(x.all))
	for i := range order {
		order[i] = int32(i)
	}
	byApplication := func(i, j int32) int { return cmp.Compare(x.all[i].application, x.all[j].application) }
	if !slices.IsSortedFunc(order, byApplication) { // phases mostly have keys in the order of those of their applications
		slices.SortStableFunc(order, byApplication)
	}
	return order
}
