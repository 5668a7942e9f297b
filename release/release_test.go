// Package release_test tests the tools that make a release.
package release_test

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// wanted is the word in STRAGGLER_REQUIRE for tests that build the whole program.
const wanted = "release"

func needs(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" || !strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), wanted) {
		t.Skip("runs on Linux with STRAGGLER_REQUIRE=release: it builds the program twice")
	}
}

// clone returns the tested commit, in a separate repository, with a tag.
func clone(t *testing.T, tag string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "source")
	run(t, "", "git", "clone", "-q", "--no-hardlinks", "..", dir)
	run(t, dir, "git", "-c", "user.name=t", "-c", "user.email=t@t", "tag", tag)
	return dir
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, &said)
	}
	return string(out)
}

// Two builds of one commit, in two directories, give the same bytes: archives, bills of materials and checksums. The archive
// has the version of the tag, the pages, the completions; its program needs only the libraries of C. The image made from it
// runs the program as a user other than root.
func TestRelease(t *testing.T) {
	needs(t)
	const tag = "v1.8.9-test.1"
	var sums []string
	var out string
	for range 2 {
		out = t.TempDir()
		sums = append(sums, run(t, clone(t, tag), "release/build", out, runtime.GOARCH))
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ:\n%s%s", sums[0], sums[1])
	}
	run(t, out, "sha256sum", "--check", "--quiet", "SHA256SUMS")
	name := "straggler_1.8.9-test.1_linux_" + runtime.GOARCH
	run(t, out, "tar", "xzf", name+".tar.gz")
	root := filepath.Join(out, name)
	for _, file := range []string{"straggler", "man/man1/straggler.1", "man/man1/straggler-report.1", "completions/straggler.bash", "completions/straggler.zsh", "completions/straggler.fish",
		"README.md", "CHANGELOG.md", "straggler.cdx.json"} {
		if info, err := os.Stat(filepath.Join(root, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	program := filepath.Join(root, "straggler")
	if said := run(t, "", program, "version", "--as", "csv"); !strings.Contains(said, "straggler,1.8.9-test.1\n") ||
		!strings.Contains(said, "vcs.modified,false") {
		t.Errorf("the version is\n%s", said)
	}
	libraries(t, program, nativeMachine[runtime.GOARCH])
	bill(t, filepath.Join(root, "straggler.cdx.json"))
	image(t, program)
}

// nativeMachine is the machine named in the programs of an architecture.
var nativeMachine = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// The archive for the other machine has its program, linked with the same libraries.
func TestCrossRelease(t *testing.T) {
	if !strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), "cross") {
		t.Skip("runs with STRAGGLER_REQUIRE=cross and a cross compiler, g++-aarch64-linux-gnu or g++-x86-64-linux-gnu: it compiles everything for another machine")
	}
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	out := t.TempDir()
	const tag = "v1.8.9-test.2"
	run(t, clone(t, tag), "release/build", out, other)
	name := "straggler_1.8.9-test.2_linux_" + other
	run(t, out, "tar", "xzf", name+".tar.gz")
	libraries(t, filepath.Join(out, name, "straggler"), nativeMachine[other])
	if info, err := os.Stat(filepath.Join(out, name, "man/man1/straggler.1")); err != nil || info.Size() == 0 {
		t.Errorf("its manual page: %v", err)
	}
}

// libraries: the libraries that the program is linked with are on every Linux with glibc on its machine.
func libraries(t *testing.T, program string, machine elf.Machine) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Machine != machine {
		t.Errorf("it runs on %v, not on %v", f.Machine, machine)
	}
	names, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !slices.Contains([]string{"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, n) {
			t.Errorf("it needs %s", n)
		}
	}
}

// bill: every module recorded in the program is a component.
func bill(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, c := range b.Components {
		if c.Version == "" || !strings.HasSuffix(c.PURL, "@"+c.Version) {
			t.Errorf("%+v", c)
		}
		has[c.Name] = true
	}
	for _, m := range []string{"std", "github.com/duckdb/duckdb-go/v2", "github.com/duckdb/duckdb-go-bindings/lib/linux-" + runtime.GOARCH, "github.com/spf13/cobra"} {
		if !has[m] {
			t.Errorf("%s is not in the bill of %d components", m, len(b.Components))
		}
	}
}

// image: the commands of the Dockerfile, run here, and the program in the root that they fill.
func image(t *testing.T, program string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "image")
	run(t, "", "./image", program, root)
	if os.Getuid() != 0 {
		t.Log("only root can change to the image's root: the program was not run in it")
		return
	}
	cmd := exec.Command("/usr/bin/straggler", "demo", "/work/demo")
	cmd.Dir, cmd.Env = "/work", []string{"HOME=/home/straggler"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("in the image: %v\n%s", err, said)
	}
	if info, err := os.Stat(filepath.Join(root, "work/demo/report.html")); err != nil || info.Sys().(*syscall.Stat_t).Uid != 65532 {
		t.Errorf("the demo's report: %v", err)
	}
}

// The Dockerfile runs what the tests run, and ends with a user other than root.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nRUN release/build /dist ", "\nRUN release/image /program/straggler /image\n", "\nFROM scratch\n", "\nUSER 65532:65532\n", "\nENTRYPOINT [\"/usr/bin/straggler\"]\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it lacks %q", want)
		}
	}
	_, version, _ := strings.Cut(string(mod), "\ngo ")
	version, _, _ = strings.Cut(version, "\n")
	if minor := strings.Join(strings.Split(version, ".")[:2], "."); !strings.Contains(string(text), "FROM golang:"+minor+"-") {
		t.Errorf("go.mod is of Go %s, and the image is built with another", version)
	}
}
