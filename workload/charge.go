package workload

import (
	"fmt"
	"math"
)

// Price names a cost parameter of the machine that a program is charged: work
// of a real program that takes a different time on each machine, so that its
// length belongs to the costs and not to the program.
type Price int32

// The prices: of a PostgreSQL server and its client pgbench, of the NAS
// benchmark LU, of sysbench with its servers, and of tbench.
const (
	PricePlan         Price = iota // a backend: parse, analyse and plan a SELECT by primary key
	PriceExecute                   // a backend: execute it, with all pages at hand
	PricePageRead                  // a backend: get a page from the kernel's page cache into shared buffers
	PriceReply                     // pgbench: take a reply apart
	PriceCommand                   // pgbench: one variable-setting command of the script
	PriceQuery                     // pgbench: put the query together
	PriceScan                      // pgbench: look at one client in a pass over all of them
	PriceTbenchClient              // tbench: read the next operation, see to its parent, build the request
	PriceTbenchServer              // its server: look at the request, build the reply
	PriceLUJacobian                // lu: the Jacobian of one point, in one sweep
	PriceLUSolve                   // lu: the solution of one point, in one sweep
	PriceLURHS                     // lu: everything else of one point in an iteration
	PriceSysbench                  // sysbench: one statement, from the script to the message and back
	PriceMySQLPoint                // a thread of MySQL: select a row by its key
	PriceMySQLRange                // the same: select 100 rows
	PriceMySQLWrite                // the same: change a row
	PriceMySQLControl              // the same: BEGIN or COMMIT
	PricePgSQLPoint                // a backend of PostgreSQL: the same four
	PricePgSQLRange
	PricePgSQLWrite
	PricePgSQLControl
	NumPrices
)

// priceNames are the names of the cost parameters.
var priceNames = [NumPrices]string{
	"pg_plan", "pg_execute", "pg_page_read", "pgbench_reply", "pgbench_command", "pgbench_query", "pgbench_scan",
	"tbench_client", "tbench_server",
	"lu_jacobian", "lu_solve", "lu_rhs",
	"sysbench_statement", "mysql_point", "mysql_range", "mysql_write", "mysql_control",
	"pgsql_point", "pgsql_range", "pgsql_write", "pgsql_control",
}

// String returns the name of the cost parameter.
func (p Price) String() string {
	if p >= 0 && p < NumPrices {
		return priceNames[p]
	}
	return fmt.Sprintf("price(%d)", int32(p))
}

func priceNamed(name string) (Price, bool) {
	for p := range NumPrices {
		if priceNames[p] == name {
			return p, true
		}
	}
	return 0, false
}

const (
	maxCharge   = 1_000_000_000 // thousandths
	maxLookedUp = 1_000_000     // lines
)

func validateCharge(in Instr) error {
	switch {
	case in.Op == OpLookup && (in.N < 1 || in.N > maxLookedUp || in.M < 1):
		return fmt.Errorf("%d lines of %d bytes: want 1 to %d lines of at least 1 byte", in.N, in.M, maxLookedUp)
	case in.Op == OpLookup:
		return nil
	case in.Chan < 0 || in.Chan >= int32(NumPrices):
		return fmt.Errorf("price %d does not exist: there are 0 to %d", in.Chan, NumPrices-1)
	case in.N < 1 || in.N > maxCharge:
		return fmt.Errorf("%d thousandths of a price: want 1 to %d", in.N, maxCharge)
	case in.M < 0 || in.M > 100:
		return fmt.Errorf("%d percent more or less: want 0 to 100", in.M)
	}
	return nil
}

// The text form of what only servers and their clients do.

func (in Instr) serverString() string {
	switch in.Op {
	case OpUnlessWatched:
		return fmt.Sprintf("%s c%d L%d", in.Op, in.Chan, in.Target)
	case OpTryRead:
		return fmt.Sprintf("%s c%d %d L%d", in.Op, in.Chan, in.N, in.Target)
	case OpCharge:
		return fmt.Sprintf("%s %s %d %d", in.Op, Price(in.Chan), in.N, in.M)
	case OpLookup:
		return fmt.Sprintf("%s %d %d", in.Op, in.N, in.M)
	case OpSpinLocked:
		return fmt.Sprintf("%s s%d %dns %d", in.Op, in.Chan, in.N, in.M)
	}
	return fmt.Sprintf("%s c%d %d", in.Op, in.Chan, in.N)
}

// serverOperands is how many operands each of these operations has.
var serverOperands = map[Op]int{
	OpWatch: 2, OpSelect: 2, OpUnlessWatched: 2, OpTryRead: 3, OpCharge: 3, OpLookup: 2, OpSpinLocked: 3,
}

func (pp *programParser) serverInstruction(in Instr, args []string) (Instr, error) {
	if len(args) == 0 || serverOperands[in.Op] != len(args) {
		return Instr{}, usageError(in.Op.String())
	}
	var err error
	number := func(text string) (n int64) {
		if err == nil {
			n, err = parseNumber("", text, math.MaxInt64)
		}
		return n
	}
	switch in.Op {
	case OpCharge:
		price, known := priceNamed(args[0])
		if !known {
			return in, fmt.Errorf("there is no price %q: there are %v", args[0], priceNames)
		}
		in.Chan, in.N, in.M = int32(price), number(args[1]), number(args[2])
		return in, err
	case OpLookup:
		in.N, in.M = number(args[0]), number(args[1])
		return in, err
	case OpSpinLocked:
		if in.Chan, err = parseIndex("s", args[0]); err == nil {
			in.N, err = parseTime(args[1])
		}
		in.M = number(args[2])
		return in, err
	}
	if in.Chan, err = parseIndex("c", args[0]); err != nil {
		return in, err
	}
	if in.Op != OpUnlessWatched {
		in.N = number(args[1])
	}
	if err == nil && in.Op.jumpsAhead() {
		err = pp.jumpAhead(args[len(args)-1])
	}
	return in, err
}
