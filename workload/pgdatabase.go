package workload

// pgDatabase is a pgbench database of some scale as PostgreSQL 9.2 stores it,
// and what a SELECT by primary key touches of it. All of it is arithmetic over
// the page layout; nothing is measured.
type pgDatabase struct {
	scale int64
}

const (
	pgPage = 8192 // bytes
	// A row of pgbench_accounts is 121 bytes, aligned to 128, and an item
	// pointer of 4: 61 fit behind the page header of 24.
	pgRowsPerPage = (pgPage - 24) / 132
	pgRowsPerUnit = 100_000
	// An index entry is 16 bytes and an item pointer; a leaf is filled to 90 %,
	// the pages above to 70 %, of what header and special space leave.
	pgLeafEntries  = (pgPage - 40 - pgPage/10) / 20
	pgInnerEntries = (pgPage - 40) * 7 / 10 / 20
	// pgCatalogBytes is a database without tables of the user's.
	pgCatalogBytes = 6_500 << 10
	// pgSharedBuffers is what initdb of that time chose: 32 MB.
	pgSharedBuffers = 32 << 20
	// A page of the free space map covers some 4000 pages of a table.
	pgPagesPerMapPage = 4030
)

func (d pgDatabase) heapPages() int64 { return ceilDiv(d.scale*pgRowsPerUnit, pgRowsPerPage) }

// indexLevels is how many pages each level of the primary key has, the root
// first.
func (d pgDatabase) indexLevels() []int64 {
	levels := []int64{ceilDiv(d.scale*pgRowsPerUnit, pgLeafEntries)}
	for levels[0] > 1 {
		levels = append([]int64{ceilDiv(levels[0], pgInnerEntries)}, levels...)
	}
	return levels
}

// bytes is the size of the database as pg_database_size tells it.
func (d pgDatabase) bytes() int64 {
	pages := d.heapPages() + ceilDiv(d.heapPages(), pgPagesPerMapPage)
	for _, n := range d.indexLevels() {
		pages += n
	}
	return pages*pgPage + pgCatalogBytes
}

// hotBytes is the memory that SELECTs of random rows go through: the index and
// the table, but no more than there is room for in shared buffers.
func (d pgDatabase) hotBytes() int64 {
	pages := d.heapPages()
	for _, n := range d.indexLevels() {
		pages += n
	}
	return min(pages*pgPage, pgSharedBuffers)
}

// pagesRead is how many thousandths of a page a SELECT has to get from the
// kernel's page cache. Shared buffers keep the pages that are used most often:
// those of the index from its root on, then those of the table.
func (d pgDatabase) pagesRead() int64 {
	room := int64(pgSharedBuffers / pgPage)
	missing := int64(0)
	for _, pages := range append(d.indexLevels(), d.heapPages()) {
		kept := min(pages, room)
		room -= kept
		missing += (pages - kept) * 1000 / pages
	}
	return missing
}

// Lines that a search touches in one page, of the index and of the table: of a
// leaf with 366 entries a binary search reads 9 item pointers, the last four of
// them in one line, and as many entries, the last three of them neighbours; then
// header and special space. Of a table's page: header, item pointer and two
// lines of the row. A buffer has a descriptor, an entry and a bucket of the hash
// table beside it, one line each.
const (
	pgIndexPageLines  = 6 + 7 + 2
	pgHeapPageLines   = 1 + 1 + 2
	pgBufferLines     = 3
	pgLeafAndRowLines = pgIndexPageLines + pgHeapPageLines + 2*pgBufferLines
)

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
