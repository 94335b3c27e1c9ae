package report

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/schedlab/schedlab/stats"
)

// parquetRow is the long form's line as a Parquet schema: the same columns,
// empty ones null. Percentages are exact here.
type parquetRow struct {
	Source      string   `parquet:"source,dict"`
	Benchmark   string   `parquet:"benchmark,dict"`
	Environment string   `parquet:"environment,dict"`
	Statistic   string   `parquet:"statistic,dict"`
	Row         string   `parquet:"row,dict"`
	Variant     string   `parquet:"variant,dict"`
	Unit        string   `parquet:"unit,dict"`
	Better      string   `parquet:"better,dict"`
	Value       *float64 `parquet:"value,optional"`
	DeltaPct    *float64 `parquet:"delta_pct,optional"`
	Significant *bool    `parquet:"significant,optional"`
	N           int64    `parquet:"n"`
	StdDev      *float64 `parquet:"stddev,optional"`
	CILow       *float64 `parquet:"ci_low,optional"`
	CIHigh      *float64 `parquet:"ci_high,optional"`
	Machine     string   `parquet:"machine,dict"`
	Kernel      string   `parquet:"kernel,dict"`
}

// Parquet writes the tables in the long form as one Parquet file.
func Parquet(w io.Writer, tables []stats.Table) error {
	out := parquet.NewGenericWriter[parquetRow](w, parquet.Compression(&parquet.Snappy),
		parquet.CreatedBy("schedlab", "", ""))
	for _, r := range Records(tables) {
		row := parquetRow{r.Source, r.Benchmark, r.Environment, r.Statistic, r.Row, r.Variant, r.Unit, string(r.Better),
			r.Value, r.DeltaPct, r.Significant, int64(r.N), r.StdDev, r.CILow, r.CIHigh, r.Machine, r.Kernel}
		if _, err := out.Write([]parquetRow{row}); err != nil {
			return err
		}
	}
	return out.Close()
}
