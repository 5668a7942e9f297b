package report

import (
	"fmt"
	"strings"

	"straggler/report/prose"
)

// JobTitle names a job; a native id such as job_1 is a title already.
func JobTitle(native string) string {
	if strings.HasPrefix(native, "job") {
		return prose.Name(native)
	}
	return "job " + prose.Name(native)
}

// PhaseTitle names a phase by its native id and resubmission.
func PhaseTitle(native string, attempt int32) string {
	if attempt == 0 {
		return "phase " + prose.Name(native)
	}
	return fmt.Sprintf("phase %s, resubmission %d", prose.Name(native), attempt)
}

// PhaseShort names an attempt of a phase where there is little room: its id, and the attempt unless it is the first.
func PhaseShort(native string, attempt int32) string {
	if attempt == 0 {
		return prose.Clean(native, 40)
	}
	return fmt.Sprintf("%s.%d", prose.Clean(native, 40), attempt)
}

// AppOf names an application where there are several: by the name that its user gave it, if it is listed and has one.
func AppOf(d *Document, native string) string {
	if d.Trust.Applications.Total == 1 {
		return ""
	}
	for i := range d.Trust.Applications.Rows {
		if a := &d.Trust.Applications.Rows[i]; a.NativeID == native && prose.MaybeName(a.Name) != "" {
			return prose.MaybeName(a.Name)
		}
	}
	return prose.Name(native)
}
