package workload

import "slices"

// bin is a number of jobs with a range of numbers of maps.
type bin struct {
	name      string
	low, high int // maps
	share     float64
}

// mixes are tables of job sizes by name.
var mixes = map[Mix][]bin{
	// FAIR table 2, 'jobs in BM': 50 jobs of nine sizes.
	"fair-benchmark": {
		{"bin0", 16, 16, 29. / 50}, {"bin1", 40, 40, 5. / 50}, {"bin2", 80, 80, 4. / 50}, {"bin3", 160, 160, 4. / 50},
		{"bin4", 320, 320, 3. / 50}, {"bin5", 600, 600, 2. / 50}, {"bin6", 1200, 1200, 1. / 50}, {"bin7", 2400, 2400, 1. / 50},
		{"bin8", 6400, 6400, 1. / 50},
	},
	// FAIR table 2, '% at Facebook'. Sizes over 3200 are taken up to 6400.
	"fair-facebook": {
		{"bin0", 1, 25, 0.58}, {"bin1", 25, 50, 0.096}, {"bin2", 50, 100, 0.086}, {"bin3", 100, 200, 0.084},
		{"bin4", 200, 400, 0.056}, {"bin5", 400, 800, 0.043}, {"bin6", 800, 1600, 0.025}, {"bin7", 1600, 3200, 0.013},
		{"bin8", 3200, 6400, 0.017},
	},
	// DOLLY §2.2 says how many jobs have at most ten tasks; how the others divide among the bins of its table 3 is assumed:
	// half of what is left to each.
	"dolly-facebook": {{"1-10", 1, 10, 0.82}, {"11-50", 11, 50, 0.09}, {"51-150", 51, 150, 0.045}, {"151-500", 151, 500, 0.03}, {"501-", 501, 1500, 0.015}},
	"dolly-bing":     {{"1-10", 1, 10, 0.61}, {"11-50", 11, 50, 0.195}, {"51-150", 51, 150, 0.1}, {"151-500", 151, 500, 0.065}, {"501-", 501, 1500, 0.03}},
}

func mixNames() []string {
	var names []string
	for m := range mixes {
		names = append(names, string(m))
	}
	slices.Sort(names)
	return names
}
