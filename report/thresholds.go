package report

// thresholds decide whether advice is given, how sure it is, and what is worth a sentence. All are estimates: there are no
// labelled logs for advice. Of 55 pieces of advice on the 31 logs of testdata/labelled, half and twice of each change
//
//	worth        7 added, 4 gone                    1 added, 2 gone
//	clearlySlow  3 of another confidence            4 of another confidence
//	enoughTasks  none                               5 of another confidence
//	mostlyRight  none                               1 of another confidence
//	mainPart     none                               1 added, 1 gone
//	latePart     1 added                            none
//
// and the others none, as TestAdviceSensitivity prints. For factors and confidences it is the distance from 1 that is scaled.
type thresholds struct {
	worth    float64 // the least gain that is worthwhile, as a fraction of all job time
	worthJob float64 // and as one of the time of the one job that the advice is about

	surelySlow    float64 // the least lower limit of a machine's factor that counts it among many slow ones
	clearlySlow   float64 // and that makes the advice on one machine sure, where enough of its
	enoughPhases  int64   // phases
	enoughTasks   int64   // and attempts agree
	manySlow      int     // so many slow machines, if they are
	manyShare     int64   // one in so many, are no faults of single ones
	mainPart      float64 // the least share of an outlier's excess that skew must explain for advice to split its partition
	mentionedPart float64 // the least share of an excess, or of all lost time without a cause or a sure remedy, that is worth a sentence
	latePart      float64 // the least share of lost time, due to tasks that are no outliers, that is said
	mostlyRight   float64 // mean confidence of verdicts, the share of such that are right: high from here on
	oftenRight    float64 // medium from here on
}

// usualThresholds returns the thresholds of reports. A gain of a hundredth of the cluster's time is worth an afternoon's work;
// smaller ones cannot be distinguished from the variation between runs.
func usualThresholds() thresholds {
	return thresholds{
		worth: 0.01, worthJob: 0.05,
		surelySlow: 1.1, clearlySlow: 1.25, enoughPhases: 3, enoughTasks: 20, manySlow: 3, manyShare: 4,
		mainPart: 0.25, mentionedPart: 0.15, latePart: 0.3, mostlyRight: 0.9, oftenRight: 0.7,
	}
}
