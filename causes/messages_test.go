package causes

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"straggler/causes/fit"
	"straggler/causes/jobcost"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/schema"
)

// Every field of a message is transferred: samples have no zero fields, so that a field missing in Fields is noticed.
func TestMessagesRoundTrip(t *testing.T) {
	for _, c := range []struct{ sent, got wire.Message }{
		{sampleModel(t), &model.Model{}},
		{&sampleAttributed, &attributed{}},
		{&sampleObservation, &model.Observation{}},
	} {
		data := wire.Encode(c.sent)
		if err := wire.Decode(data, c.got); err != nil {
			t.Fatalf("%T: %v", c.sent, err)
		}
		if !reflect.DeepEqual(c.got, c.sent) {
			t.Errorf("%T: sent %+v, got %+v", c.sent, c.sent, c.got)
		}
		if !slices.Equal(wire.Encode(c.got), data) {
			t.Errorf("%T: written again it is other bytes", c.sent)
		}
		for cut := range data {
			if err := wire.Decode(data[:cut], c.got); !errors.Is(err, wire.ErrMessage) {
				t.Fatalf("%T: %d of %d bytes are read: %v", c.sent, cut, len(data), err)
			}
		}
	}
	for _, sample := range []any{sampleAttributed, sampleObservation} {
		if path := zeroIn(reflect.ValueOf(sample)); path != "" {
			t.Errorf("%T%s is zero: the test would not notice that it is not sent", sample, path)
		}
	}
}

var (
	sampleAttributed = attributed{
		outliers: []machines.Window{{Machine: 3, Number: 4}},
		skewed:   []skewEvent{{phase: 2, attempt: 1 << 62, task: 5, seconds: 2.5, ratio: 3}},
		saved:    []jobcost.Saving{{Phase: 2, Cause: schema.GC, Sum: 1, SD: 2, Factor: 5, Packed: 3, Fixed: 4}},
		totals:   []causeTotal{{cause: schema.Network, verdicts: 2, micros: 3}},
		times: runTimes{
			parts: []machinePart{{machine: 1, tasks: 2, slow: 3, duration: 4.5, processor: 5.5, wait: 6.5, bytes: 7.5, records: 8.5, start: 9, finish: 10, tick: 1}},
			late:  []lateAttempt{{attempt: 1 << 61, machine: 2, duration: 3.5, excess: 4.5, processor: 5.5, wait: 6.5}},
		},
	}
	sampleObservation = model.Observation{
		Stage:    model.Stage{ElasticityW: 1, Elasticity: 2, N: 3, LogSigma: 4, SpillW: 5, Spill: 6},
		Outliers: fit.OutlierCounts{N: 1, Slow: 2, Sum: 3, Sum2: 4, CPUKnown: 5, Computing: 6},
		Starts:   fit.StartCounts{Starts: 7, Slow: 8},
		Machines: []model.MachineObservation{{Window: machines.Window{Machine: 1, Number: -2}, Mean: 0.25, Variance: 0.5, N: 3,
			CPUKnown: true, CPUMean: 1, CPUVariance: 2}},
	}
)

// sampleModel returns the model of a generated cluster.
func sampleModel(t *testing.T) *model.Model {
	trace := mixedTrace(t, "mixed", 1)
	phases, names := phasesOf(trace, nil)
	l := model.NewLearner(3600, names, racksOf(trace, names))
	for i := range phases {
		l.Observe(&phases[i])
	}
	return l.Model()
}

// zeroIn returns the path of a field that is zero; "" if there is none.
func zeroIn(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if path := zeroIn(v.Field(i)); path != "" {
				return "." + v.Type().Field(i).Name + path
			}
		}
		return ""
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if path := zeroIn(v.Index(i)); path != "" {
				return path
			}
		}
		if v.Len() > 0 {
			return ""
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			return zeroIn(it.Value())
		}
	}
	if v.IsZero() {
		return " "
	}
	return ""
}

// Any input is read or rejected; what is read is written back unchanged.
func FuzzMessages(f *testing.F) {
	f.Add(wire.Encode(&sampleAttributed))
	f.Add(wire.Encode(&sampleObservation))
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, new := range []func() wire.Message{
			func() wire.Message { return &attributed{} },
			func() wire.Message { return &model.Observation{} },
			func() wire.Message { return &model.Model{} },
		} {
			got, second := new(), new()
			if err := wire.Decode(data, got); err != nil {
				if !errors.Is(err, wire.ErrMessage) {
					t.Fatal(err)
				}
				continue
			}
			again := wire.Encode(got)
			if err := wire.Decode(again, second); err != nil || !slices.Equal(wire.Encode(second), again) {
				t.Fatalf("%v", err)
			}
		}
	})
}
