package spark

import (
	"strings"

	"straggler/schema"
)

// engineOf tells by what an operator is called who runs it, and gives Spark's name of it. RAPIDS, Comet and Photon put their name
// before Spark's; Gluten puts Transformer behind it, and its backends Velox and CH before it.
func engineOf(name string) (schema.Native, string) {
	if engine, ok := ownNames[name]; ok {
		return engine, nativeNames(name)
	}
	for _, e := range []struct {
		prefix string
		engine schema.Native
	}{{"Gpu", schema.RapidsEngine}, {"Photon", schema.PhotonEngine}, {"Comet", schema.CometEngine}, {"Velox", schema.GlutenEngine}} {
		if rest, ok := strings.CutPrefix(name, e.prefix); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
			return e.engine, nativeNames(strings.TrimSuffix(withoutTransformer(rest), "Exec"))
		}
	}
	if rest := withoutTransformer(name); rest != name && rest != "" {
		return schema.GlutenEngine, nativeNames(strings.TrimPrefix(rest, "CH"))
	}
	return schema.SparkEngine, name
}

func withoutTransformer(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "Transformer"), "Exec")
}

// ownNames are operators of native engines whose names do not begin or end with the engine's.
var ownNames = map[string]schema.Native{
	"ColumnarExchange": schema.GlutenEngine, "ColumnarBroadcastExchange": schema.GlutenEngine, "ColumnarAQEShuffleRead": schema.GlutenEngine,
	"RowToVeloxColumnar": schema.GlutenEngine, "CHColumnarToRow": schema.GlutenEngine, "RowToCHNativeColumnar": schema.GlutenEngine,
	"HostColumnarToGpu": schema.RapidsEngine,
}

// nativeNames gives Spark's name of what native engines name otherwise.
func nativeNames(name string) string {
	switch name {
	case "GroupingAgg", "GroupingAggWithRollup", "Agg", "RegularHashAggregate", "FlushableHashAggregate":
		return "HashAggregate"
	case "ShuffleExchangeSink", "ColumnarExchange", "ColumnarShuffleExchange", "ShuffleExchange", "NativeShuffle":
		return "Exchange"
	case "BroadcastExchangeSink", "ColumnarBroadcastExchange":
		return "BroadcastExchange"
	case "HashJoin", "ShuffledSymmetricHashJoin", "ShuffledAsymmetricHashJoin", "ShuffledSizedHashJoin":
		return "ShuffledHashJoin"
	case "ProjectAst":
		return "Project"
	case "ColumnarAQEShuffleRead":
		return "AQEShuffleRead"
	}
	return name
}

// nativeWrappers are operators of native engines that compute nothing: they change the form of rows, or hand them on. Photon reads an
// exchange by a source of its own over the sink, which has the keys.
var nativeWrappers = map[string]bool{
	"InputIterator": true, "ResultStage": true, "ShuffleMapStage": true, "ShuffleExchangeSource": true, "BroadcastExchangeSource": true, "Adapter": true, // Photon, and Gluten's InputIterator
	"CoalesceBatches": true, "ShuffleCoalesce": true, "CustomShuffleReaderAdapter": true, "HostColumnarToGpu": true, "BringBackToHost": true, // RAPIDS
	"RowToVeloxColumnar": true, "ResizeBatches": true, "CHColumnarToRow": true, "RowToCHNativeColumnar": true, "VeloxColumnarToRow": true, // Gluten
	"SinkPlaceHolder": true, "SparkToColumnar": true, "SparkRowToColumnar": true, "SparkColumnarToColumnar": true, "NativeColumnarToRow": true, // Comet
}
