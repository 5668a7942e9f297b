package causes

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// constants are the numbers of the model that come from no source and no store, with the pattern that finds each; the group
// is the number.
var constants = []struct{ name, file, pattern string }{
	{"elasticity", "fit/regression.go", `elasticity   = ([0-9.]+)`},
	{"elasticitySD", "fit/regression.go", `elasticitySD = ([0-9.]+)`},
	{"sigmaGuess", "fit/regression.go", `sigmaGuess   = ([0-9.]+)`},
	{"sigmaWeight", "fit/regression.go", `sigmaWeight  = ([0-9.]+)`},
	{"sigmaMin", "fit/regression.go", `sigmaMin    = ([0-9.]+)`},
	{"significant", "fit/regression.go", `significant = ([0-9.]+)`},
	{"farthest", "fit/regression.go", `farthest = ([0-9.]+)`},
	{"spreadMin", "fit/regression.go", `spreadMin   = ([0-9.]+)`},
	{"spillRatio", "fit/regression.go", `spillRatio, spillRatioSD = ([0-9.]+)`},
	{"spillRatioSD", "fit/regression.go", `spillRatio, spillRatioSD = [0-9.]+, ([0-9.]+)`},
	{"support", "fit/predictors.go", `const support = ([0-9.]+)`},
	{"OutlierPrior.Probability", "fit/outlier.go", `OutlierComponent\{Probability: ([0-9.]+)`},
	{"broadShare", "fit/outlier.go", `broadShare += ([0-9.]+)`},
	{"broadVariance", "fit/outlier.go", `broadVariance += ([0-9.]+)`},
	{"OutlierLeast", "fit/outlier.go", `OutlierLeast += ([0-9.]+)`},
	{"priorAttempts", "fit/outlier.go", `priorAttempts += ([0-9.]+)`},
	{"priorOutliers", "fit/outlier.go", `priorOutliers += ([0-9.]+)`},
	{"priorComputing", "fit/outlier.go", `priorComputing += ([0-9.]+)`},
	{"guessMean", "fit/outlier.go", `guessMean += ([0-9.]+)`},
	{"guessSD", "fit/outlier.go", `guessSD += ([0-9.]+)`},
	{"varianceLeast", "fit/outlier.go", `varianceLeast += ([0-9.]+)`},
	{"betweenPhases", "machines/sufficient.go", `betweenPhases = ([0-9.]+)`},
	{"machinePrior.Spike", "machines/factors.go", `machinePrior = stats.SpikeSlab\{Spike: ([0-9.]+)`},
	{"SlowMachine", "fit/leverage.go", `SlowMachineVariance = ([0-9.]+)`},
	{"SlowMachineVariance", "fit/leverage.go", `SlowMachineVariance = [0-9.]+, ([0-9.]+)`},
	{"cpuSigma", "fit/cpu.go", `cpuSigma += ([0-9.]+)`},
	{"cpuTick", "fit/cpu.go", `cpuTick += ([0-9.]+)`},
	{"bodyFloor", "fit/parts.go", `const bodyFloor = ([0-9.]+)`},
	{"LaunchOverlap", "fit/bymachine.go", `const LaunchOverlap = ([0-9.]+)`},
	{"differ", "fit/predictors.go", `const differ = ([0-9.]+)`},
	{"WindowPrior.Spike", "machines/factors.go", `WindowPrior  = stats.SpikeSlab\{Spike: ([0-9.]+)`},
	{"WindowPrior.Slab", "machines/factors.go", `WindowPrior  = .*Slab: ([0-9.]+)`},
	{"WindowPrior.SlabProbability", "machines/factors.go", `WindowPrior  = .*SlabProbability: ([0-9.]+)`},
	{"PhasePrior.Spike", "machines/factors.go", `PhasePrior   = stats.SpikeSlab\{Spike: ([0-9.]+)`},
	{"PhasePrior.Slab", "machines/factors.go", `PhasePrior   = .*Slab: ([0-9.]+)`},
	{"PhasePrior.SlabProbability", "machines/factors.go", `PhasePrior   = .*SlabProbability: ([0-9.]+)`},
	{"ShareOfIt", "machines/racks.go", `ShareOfIt  = ([0-9.]+)`},
	{"mostOfRack", "machines/racks.go", `mostOfRack = ([0-9.]+)`},
	{"fewElse", "machines/racks.go", `fewElse    = ([0-9.]+)`},
	{"YoungFor", "fit/executors.go", `const YoungFor = ([0-9.]+)`},
	{"startPrior", "fit/starts.go", `startPrior += ([0-9.]+)`},
	{"priorExecutors", "fit/starts.go", `priorExecutors += ([0-9.]+)`},
	{"priorStarts", "machines/start.go", `priorStarts  = ([0-9.]+)`},
	{"startDiffers", "machines/start.go", `startDiffers = ([0-9.]+)`},
	{"transientPrior", "machines/spell.go", `transientPrior = ([0-9.]+)`},
	{"betweenExecutions", "model/stages.go", `betweenExecutions = ([0-9.]+)`},
	{"leastTasks", "model/stages.go", `leastTasks        = ([0-9.]+)`},
	{"halfway", "rules.go", `const halfway = ([0-9.]+)`},
	{"allOfIt", "location.go", `const allOfIt = ([0-9.]+)`},
	{"alike", "rules.go", `const alike = ([0-9.]+)`},
	{"shareOfPause", "pauses.go", `shareOfPause = ([0-9.]+)`},
	{"fewCollect", "pauses.go", `fewCollect = ([0-9.]+)`},
	{"together", "driver.go", `const together = ([0-9.]+)`},
	{"material", "rules.go", `const material = ([0-9.]+)`},
	{"leastOutlier", "split.go", `const leastOutlier = ([0-9.]+)`},
	{"minShare", "attribute.go", `const minShare, minUncertainShare = ([0-9.]+)`},
	{"minUncertainShare", "attribute.go", `const minShare, minUncertainShare = [0-9.]+, ([0-9.]+)`},
}

// TestSensitivity prints what halving and doubling each constant changes on two hundred drawn clusters, or on the labelled
// runs: the table in MODEL.md. It rebuilds the package for each, and therefore runs only with STRAGGLER_SENSITIVITY=drawn or
// =labelled; one constant is selected by name, as in TestSensitivity/halfway.
func TestSensitivity(t *testing.T) {
	for _, c := range constants {
		t.Run(c.name, func(t *testing.T) {
			path, err := filepath.Abs(c.file)
			if err != nil {
				t.Fatal(err)
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			at := regexp.MustCompile(c.pattern).FindSubmatchIndex(source)
			if at == nil {
				t.Fatalf("%s does not match: the table of constants is not that of the code", c.pattern)
			}
			if os.Getenv("STRAGGLER_SENSITIVITY") == "" {
				return
			}
			value, err := strconv.ParseFloat(string(source[at[2]:at[3]]), 64)
			if err != nil {
				t.Fatal(err)
			}
			for _, by := range []float64{0.5, 2} {
				if c.name == "support" { // an integer
					by = math.Round(by*value) / value
				}
				text := strconv.FormatFloat(by*value, 'g', -1, 64)
				changed := append(append(append([]byte{}, source[:at[2]]...), text...), source[at[3]:]...)
				t.Logf("%8s  %s", text, scored(t, path, changed))
			}
		})
	}
}

// scored returns the score of the package with another text in one file.
func scored(t *testing.T, path string, text []byte) string {
	t.Helper()
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{path: file}})
	if err == nil {
		err = os.WriteFile(file, text, 0o666)
	}
	if err == nil {
		err = os.WriteFile(overlay, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	what := []string{"-run", "^TestLabelled$", "."}
	if os.Getenv("STRAGGLER_SENSITIVITY") != "labelled" { // without the tests that link a database
		what = []string{"-run", "^TestMixtures$", "mixtures_test.go", "score_test.go", "clusters_test.go", "synth_test.go", "baseline_test.go"}
		files, err := filepath.Glob("*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				what = append(what, f)
			}
		}
	}
	args := append([]string{"test", "-count=1", "-vet=off", "-v", "-overlay", overlay}, what...)
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	found := regexp.MustCompile(`causes  macro-F1 ([0-9.]+), found .*accused (\d+) of`).FindAllSubmatch(out, -1)
	if len(found) == 0 {
		return fmt.Sprintf("no score (%v): %.200s", err, out)
	}
	last := found[len(found)-1] // over all runs
	return fmt.Sprintf("macro-F1 %s, accused %s", last[1], last[2])
}
