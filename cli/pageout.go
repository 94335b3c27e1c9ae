package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/schedlab/schedlab/page"
)

// chartFolder is where the charts of a report are, each as SVG and as PNG.
const chartFolder = "charts"

// makeOut makes the folder of --out, before anything runs; "" is none.
func makeOut(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// writeOut writes a page with its charts and the files beside it.
func writeOut(dir string, p *page.Page, files map[string]func(io.Writer) error) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(filepath.Join(dir, name), files[name]); err != nil {
			return err
		}
	}
	return writePage(dir, p)
}

// writePage writes report.html into a folder and the page's charts below it.
func writePage(dir string, p *page.Page) error {
	if err := writeFile(filepath.Join(dir, "report.html"), p.Write); err != nil {
		return err
	}
	charts := filepath.Join(dir, chartFolder)
	if err := os.MkdirAll(charts, 0o755); err != nil {
		return err
	}
	for _, picture := range p.Pictures() {
		for _, form := range []struct {
			extension string
			render    func() ([]byte, error)
		}{{".svg", picture.SVG}, {".png", picture.PNG}} {
			err := writeFile(filepath.Join(charts, picture.Name+form.extension), func(w io.Writer) error {
				data, err := form.render()
				if err != nil {
					return err
				}
				_, err = w.Write(data)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
