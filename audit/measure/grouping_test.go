package measure

import "testing"

// Default names of shells are those of sessions, unless a pattern says that they belong together.
func TestSessions(t *testing.T) {
	byPattern, err := NewGrouping(`Spark sh(ell)|nightly-(\w+)`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		g       Grouping
		name    string
		group   string
		session bool
	}{
		{Grouping{}, "Spark shell", "Spark shell", true},
		{Grouping{}, "PySparkShell", "PySparkShell", true},
		{Grouping{}, "SparkR", "SparkR", true},
		{Grouping{}, "Thrift JDBC/ODBC Server", "Thrift JDBC/ODBC Server", true},
		{Grouping{}, "Spark shell of the nightly load", "Spark shell of the nightly load", false},
		{Grouping{}, "", "(no name)", false},
		{byPattern, "Spark shell", "ell", false},
		{byPattern, "PySparkShell", "PySparkShell", true},
	} {
		if group, session := c.g.of(c.name), c.g.session(c.name); group != c.group || session != c.session {
			t.Errorf("%q: group %q, session %t; want %q, %t", c.name, group, session, c.group, c.session)
		}
	}
}
