package read

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestJSONNumbers(t *testing.T) {
	long := `{"x": "` + strings.Repeat("N", 40<<10) + `", "y": `
	for in, want := range map[string]string{
		`{"a": NaN, "b": -Infinity}`: `{"a": null, "b": null     }`,
		`[NaN,Infinity,-1,N]`:        `[null,null    ,-1,N]`,
		`["NaN \" NaN",NaN]`:         `["NaN \" NaN",null]`,
		`[1, NaN`:                    `[1, null`,
		`[-`:                         `[-`,
		``:                           ``,
		long + `NaN}`:                long + `null}`,
	} {
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)),
			"with the end": iotest.DataErrReader(strings.NewReader(in)),
		} {
			if got, err := io.ReadAll(JSONNumbers(r)); err != nil || string(got) != want {
				t.Errorf("%s: %.60q gave %.60q, want %.60q, error %v", name, in, got, want, err)
			}
		}
	}
}
