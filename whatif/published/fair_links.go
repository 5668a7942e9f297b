package published

import (
	"context"
	"fmt"
	"math"

	"straggler/whatif/simulate"
)

// §6.2.2 to §6.2.4 of FAIR run on nodes of EC2 that are one rack to Hadoop (§6). Alone, a job loses nothing by reading three
// quarters of its blocks from other nodes (§6.2.3), so the cost of remote reads is contention. The bandwidth of a node's link
// while all nodes send is not in the paper: at most mostLink, and at least leastLink.

// mostLink is the rate at which 'nodes were able to send [...] to each other', 1 Gbps (§6), in MB/s.
const mostLink = 125.0

// ec2Nodes are the nodes, with links of the given MB/s.
const ec2Nodes = "cluster: {machines: 100, racks: 1, map_slots: 4, reduce_slots: 2, network: {rack_mb_s: 1250, machine_mb_s: %.1f, disk_mb_s: 220}}"

// stickySlots runs the experiment of §6.2.2 with links of the given MB/s.
func (t *table) stickySlots(ctx context.Context, jobs int, link float64) (ran, error) {
	return t.simulated(ctx, fmt.Sprintf(`
name: sticky
`+ec2Nodes+`
jobs:
  - {name: scan, count: %d, maps: 1407, map_s: 9, spread: 0.1, block_mb: 128, one_file: true}
schedulers: [fair, %s]
seeds: 1
`, link, jobs, stickyDelay))
}

const stickyDelay = "delay t1=10 t2=10"

// stickyGain returns how many times as long the jobs of §6.2.2 take without delay scheduling.
func stickyGain(r ran) float64 { return r.mean("fair", makespan) / r.mean(stickyDelay, makespan) }

// leastLink returns the link, MB/s, with which 50 jobs take twice as long with sticky slots as with delay scheduling, as in
// figure 13.
func (t *table) leastLink(ctx context.Context) (float64, error) {
	return solved(t.solved, "FAIR's least link", func() (float64, error) {
		x := table{lab: shipped}
		x.solved = t.solved
		link := mostLink / 2
		for range 6 { // the time on a saturated link is inversely proportional to its bandwidth
			r, err := x.stickySlots(ctx, 50, link)
			if err != nil {
				return 0, err
			}
			link = min(link*stickyGain(r)/2, mostLink)
		}
		return link, nil
	})
}

// links returns the possible bandwidths of a node's link, from the least to the most.
func (t *table) links(ctx context.Context) ([]float64, error) {
	least, err := t.leastLink(ctx)
	return []float64{least, math.Sqrt(least * mostLink), mostLink}, err
}

func linksNote(links []float64) string {
	return fmt.Sprintf("links of %.0f to %.0f MB/s per node, "+
		"from that at which 50 jobs gain 2 in figure 13 to the 1 Gbps that nodes 'appear to have' (table 1); "+
		"the paper does not say what a link carries when all nodes send",
		links[0], links[len(links)-1])
}

// fairStickySlots is §6.2.2: figures 13 and 14.
func fairStickySlots(ctx context.Context, t *table) error {
	links, err := t.links(ctx)
	if err != nil {
		return err
	}
	t.assume("Over " + linksNote(links) + ". Scans take 9 s a block (§6.2.4), and an idle node serves a remote block faster than that, " +
		"because remote reads cost a job nothing when it is alone (§6.2.3). All jobs read the same 180 GB in blocks of 128 MB.")
	for _, x := range []struct {
		jobs         int
		gain, sticky float64 // published; 0: none
	}{{5, 0, 0.90}, {10, 1.1, 0}, {20, 1.6, 0}, {50, 2, 0.27}} {
		var gains, local, sticky []float64
		for _, link := range links {
			r, err := t.stickySlots(ctx, x.jobs, link)
			if err != nil {
				return err
			}
			gains = append(gains, stickyGain(r))
			local, sticky = append(local, r.mean(stickyDelay, nodeLocal)), append(sticky, r.mean("fair", nodeLocal))
		}
		if x.sticky > 0 {
			t.baseline("§6.2.2", fmt.Sprintf("figure 14, %d jobs: locality with sticky slots", x.jobs), x.sticky, sticky[0], 0.1, "'From 90-27%' for 5 to 50 jobs.")
		}
		quantity := fmt.Sprintf("figure 13, %d jobs: throughput with delay over sticky slots", x.jobs)
		switch x.jobs {
		case 5:
			continue
		case 50:
			t.baseline("§6.2.2", quantity, x.gain, gains[0], 0.05, "The least link is solved for it.")
		default:
			t.band("§6.2.2", quantity, x.gain, gains, "By link: "+listed(gains)+".")
		}
		t.rebuilt("§6.2.2", fmt.Sprintf("figure 14, %d jobs: locality with delay", x.jobs), 0.995, local[0], 0.01, "99 to 100 %.")
	}
	return nil
}

// aloneSeconds is the time that a job of 16 maps and a reduce takes alone, s: 'a mean of 35.4s' (§6.2.3). The time beyond its
// maps is given to the reduce here, which gets 0.1 % of the data: it includes Hadoop's starting and ending of jobs.
const aloneSeconds = 35.4

// aloneReduce is that reduce, after the maps, as text of a workload file.
var aloneReduce = fmt.Sprintf("reduces: 1, reduce_s: %g, early: 1", aloneSeconds-scanSeconds)

// fairAlone is §6.2.3: eight jobs of 16 maps, one after the other.
func fairAlone(ctx context.Context, t *table) error {
	links, err := t.links(ctx)
	if err != nil {
		return err
	}
	r, err := t.simulated(ctx, fmt.Sprintf(`
name: alone
`+ec2Nodes+`
jobs:
  - {name: scan, workers: 1, count: 8, maps: 16, map_s: 9, spread: 0.1, block_mb: 128, %s}
schedulers: [fair, %s]
seeds: 1
`, links[0], aloneReduce, stickyDelay))
	if err != nil {
		return err
	}
	t.assume(fmt.Sprintf("Maps take 9 s (§6.2.4), and the reduce the rest of 35.4 s; links of %.0f MB/s, the least of figure 13.", links[0]))
	t.rebuilt("§6.2.3", "a job of 16 maps alone: locality with delay", 1, r.mean(stickyDelay, nodeLocal), 0.01, "")
	t.baseline("§6.2.3", "the same without delay", 0.25, r.mean("fair", nodeLocal), 0.1, "")
	t.baseline("§6.2.3", "its time without delay over that with", 1, r.mean("fair", meanTime)/r.mean(stickyDelay, meanTime), 0.05, "35.4 s with both.")
	return nil
}

// meanTime returns the mean completion time of the jobs of a run, s.
func meanTime(x *simulate.Result) float64 {
	all := 0.0
	for _, j := range x.Jobs {
		all += j.TookS
	}
	return all / float64(len(x.Jobs))
}

// fairBias is §6.2.4: figure 15, over the bandwidth of a node's link.
func fairBias(ctx context.Context, t *table) error {
	const plain, untuned, biased = "fair", stickyDelay, stickyDelay + " bias=8"
	links, err := t.links(ctx)
	if err != nil {
		return err
	}
	over := map[string][]float64{}
	for _, link := range links {
		r, err := t.simulated(ctx, fmt.Sprintf(`
name: hotspot
`+ec2Nodes+`
jobs:
  - {name: scan, workers: 10, count: 70, maps: 16, map_s: 9, spread: 0.1, block_mb: 128, one_file: true, %[2]s}
  - {name: compute, workers: 10, count: 25, maps: 16, map_s: 36, spread: 0.1, block_mb: 128, one_file: true, %[2]s}
schedulers: [%[3]s, %[4]s, %[5]s]
seeds: 3
`, link, aloneReduce, plain, untuned, biased))
		if err != nil {
			return err
		}
		for _, name := range []string{"scan", "compute"} {
			for _, than := range []string{untuned, plain} {
				for seed, x := range r[biased] {
					over[name+than] = append(over[name+than], endedJobs(name)(x)/endedJobs(name)(r[than][seed]))
				}
			}
		}
	}
	t.assume("All jobs read one file of sixteen blocks. The band is over three draws, and over " + linksNote(links) + ". " +
		"Which jobs do not wait is learned from ended tasks; the paper set it by hand. Not modelled: processors " +
		"('compute jobs also ran faster due to [...] possibly less CPU contention on the machines serving the blocks', without a figure).")
	const rare = "In the paper 'both compute and scan jobs would wait up to 10s'; it does not say how long jobs of each kind took. " +
		"Here waits are rare: twenty jobs use about 133 of the 192 slots near the file's blocks. " +
		"Heartbeats of 5 s that start a single task make compute jobs wait, too, but then nothing is gained in figure 13."
	for _, x := range []struct {
		name, than, words string
		gain              float64
	}{{"scan", untuned, "untuned delay", 1.15}, {"compute", untuned, "untuned delay", 1.44}, {"scan", plain, "no delay", 1.08}, {"compute", plain, "no delay", 1.10}} {
		t.band("§6.2.4", fmt.Sprintf("figure 15: %s jobs in ten minutes with IO-rate biasing over %s", x.name, x.words), x.gain, over[x.name+x.than], rare)
	}
	return nil
}

// endedJobs counts the jobs of a name that end within ten minutes.
func endedJobs(name string) func(*simulate.Result) float64 {
	return func(x *simulate.Result) float64 {
		n := 0.0
		for _, j := range x.Jobs {
			if j.Name == name && j.SubmitS+j.TookS <= 600 {
				n++
			}
		}
		return n
	}
}
