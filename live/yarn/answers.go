package yarn

// The answers of the REST APIs of the resource manager and of MapReduce's application master, limited to the fields that are
// used (Hadoop 3.3, ResourceManagerRest and MapredAppMasterRest). Times are milliseconds since 1970; 0 means none.

type application struct {
	ID           string
	Name         string
	Type         string `json:"applicationType"`
	State        string // NEW, NEW_SAVING, SUBMITTED, ACCEPTED, RUNNING, FINISHED, FAILED, KILLED
	FinalStatus  string // UNDEFINED, SUCCEEDED, FAILED, KILLED
	FinishedTime int64
}

type oneApplication struct{ App application }

type applications struct {
	Apps struct{ App []application }
}

type jobs struct {
	Jobs struct{ Job []job }
}

type job struct {
	ID           string
	Name         string
	User         string
	State        string
	StartTime    int64
	FinishTime   int64
	ElapsedTime  int64
	MapsTotal    int64
	ReducesTotal int64
}

type tasks struct {
	Tasks struct{ Task []task }
}

type task struct {
	ID        string
	Type      string  // MAP, REDUCE
	State     string  // NEW, SCHEDULED, RUNNING, SUCCEEDED, FAILED, KILL_WAIT, KILLED
	Progress  float64 // of its best attempt, in percent
	StartTime int64
}

type taskAttempts struct {
	TaskAttempts struct{ TaskAttempt []attempt }
}

type attempt struct {
	ID          string
	State       string
	Progress    float64 // in percent
	StartTime   int64
	FinishTime  int64
	Rack        string
	Node        string `json:"nodeHttpAddress"`
	Container   string `json:"assignedContainerId"`
	Diagnostics string
}
