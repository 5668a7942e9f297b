package duckdb

import (
	"testing"

	"straggler/engine"
	"straggler/engine/enginetest"
)

func TestLoad(t *testing.T) {
	enginetest.Loads(t, testEngine(t, enginetest.Store(t), engine.Options{}), testEngine(t, enginetest.Store(t), engine.Options{Locked: true}))
}
