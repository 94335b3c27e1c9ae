package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/chart"
)

func picture(name string) *chart.Picture {
	return (&chart.Bars{Name: name, Title: "t", Alt: "a", Bars: []chart.Bar{{Name: "x", Value: 1}}}).Picture()
}

func example() *Page {
	return &Page{Title: "a <title>", Verdict: []Sentence{{"better & faster", Good}}, Lead: []string{"lead"}, Sections: []Section{
		{Title: "first", Verdicts: []Sentence{{"claim", Bad}}, Parts: []Part{Figure{picture("one")}, Figure{}, Notes{}, Notes{{"<b>", Doubt}}, Prose{Sentence{Text: "p"}}}},
		{Title: "second", Parts: []Part{Figure{picture("one")}, &Table{Caption: "c", Data: []Datum{{"x", `"1"`}}, Columns: []Column{{}, {Name: "v", Series: 1, Coloured: true}},
			Rows: []Row{{Name: "r1", Data: []Datum{{"row", "1"}}, Cells: []Cell{{Value: "1.5", Mark: "(+2%)", Detail: "n=3", Mood: Good, Data: []Datum{{"value", "1.5"}},
				Bar: &Bar{Series: 1, Value: 0.5, Low: -0.25, High: 2, Interval: true, Sure: true}}}}, {Name: "r2", Cells: []Cell{{Value: "text", Prose: true}}}}}}},
	}}
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The policy allows the page's own script by its hash, and nothing from
// elsewhere.
func TestPolicyAllowsOnlyThePagesOwnScript(t *testing.T) {
	html := written(t, example())
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(html, -1)
	if len(script) != 1 {
		t.Fatalf("%d scripts", len(script))
	}
	sum := sha256.Sum256([]byte(script[0][1]))
	policy := "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(html, "&#43;", "+"), "&#39;", "'"), policy) {
		t.Errorf("the policy is not %q", policy)
	}
	for _, bad := range []string{"http://", "https://", "@import", "url("} {
		if rest := strings.NewReplacer("http://www.w3.org/2000/svg", "", "http://www.w3.org/1999/xlink", "").Replace(html); strings.Contains(rest, bad) {
			t.Errorf("%q in the page", bad)
		}
	}
}

func TestTextIsEscapedAndStructureIsThere(t *testing.T) {
	html := written(t, example())
	for _, want := range []string{
		"<h1>a &lt;title&gt;</h1>", `<p class="good">better &amp; faster</p>`, `<p class="claim bad">claim</p>`, `<li class="doubt">&lt;b&gt;</li>`,
		`<a class="skip" href="#results">`, `<main id="results" tabindex="-1">`, `<a href="#part-2">second</a>`, `<section id="part-2" aria-labelledby="part-2-title">`,
		`<html lang="en">`, `<meta name="viewport"`, `<table data-x="&#34;1&#34;">`, `<caption>c</caption>`, `<th scope="row">r1</th>`,
		`<tr tabindex="0" data-row="1">`, `<tr tabindex="-1">`, `<td class="text">text</td>`,
		// Half of the half width to the right of the middle; the interval from a
		// quarter left of it to beyond the cell, which is its edge.
		`<i class="sure" style="left:50.0%;width:25.0%"></i><b style="left:37.5%;width:62.5%"></b>`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(html, "<figure"); n != 2 {
		t.Errorf("%d figures, want 2: one has no picture", n)
	}
}

// Dark and light have the same variables, so that nothing keeps the other's
// colour.
func TestBothThemesAreWhole(t *testing.T) {
	variable := regexp.MustCompile(`(--[a-z0-9]+|color-scheme):`)
	names := func(css string) []string {
		list := variable.FindAllString(css, -1)
		slices.Sort(list)
		return list
	}
	light, dark := chart.Variables()
	l, d := names(light+lightChrome), names(dark+darkChrome)
	if !slices.Equal(l, d) || len(l) != len(slices.Compact(slices.Clone(l))) {
		t.Errorf("light %v, dark %v", l, d)
	}
	for _, used := range regexp.MustCompile(`var\((--[a-z0-9]+)\)`).FindAllStringSubmatch(written(t, example()), -1) {
		if !slices.Contains(l, used[1]+":") && used[1] != "--c" {
			t.Errorf("no theme has %s", used[1])
		}
	}
}

func TestPicturesHaveNamesOfTheirOwn(t *testing.T) {
	var names []string
	for _, p := range example().Pictures() {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"one", "one-2"}) {
		t.Errorf("%v", names)
	}
	html := written(t, example())
	for _, name := range names {
		if strings.Count(html, `<figure id="chart-`+name+`">`) != 1 {
			t.Errorf("no figure of the name %s, or several", name)
		}
	}
	long := &Page{Sections: []Section{{Parts: []Part{Figure{picture(strings.Repeat("long", 100) + "_change")}}}}}
	if name := long.Pictures()[0].Name; len(name) > 250 || !strings.HasSuffix(name, "_change") {
		t.Errorf("a file of the name %s", name)
	}
}
