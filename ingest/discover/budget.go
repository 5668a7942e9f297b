package discover

import (
	"straggler/ingest"
	"straggler/ingest/codec"
)

// inputLimits returns the limits of the budget of one input: a file, or an archive with all its contents.
func inputLimits(l ingest.Limits) codec.Limits {
	return codec.Limits{Out: l.Input, Ratio: l.Ratio, Of: "it", Raise: "--max-input"}
}

// runFloor is what a run may decompress regardless of the ratio. Ten inputs may use up their individual allowances; thousands
// of small bombs, each within its allowance, are as bad as a large one.
const runFloor = 1 << 30

// runLimits returns the limits of the budget of all inputs of a run.
func runLimits(l ingest.Limits) codec.Limits {
	return codec.Limits{Out: l.Run, Ratio: l.Ratio, Floor: runFloor, Of: "the logs of this run together", Raise: "--max-run"}
}
