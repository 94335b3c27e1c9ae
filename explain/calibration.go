package explain

// deviationSteps are the deviations, in percent of the recorded value, that are
// told apart.
var deviationSteps = [...]float64{0, 1, 2, 5, 10, 20, 50}

// Deviations counts rebuilt averages by how far they are from the recorded ones:
// class i has those within deviationSteps[i] percent and not within the step
// before, the last class the others. Averages are integers, so a difference of
// one is none.
type Deviations [len(deviationSteps) + 1]int64

func (d *Deviations) add(have, told int64) {
	miss := float64(have - told)
	if miss < 0 {
		miss = -miss
	}
	for i, percent := range deviationSteps {
		if miss <= 1 || 100*miss <= percent*float64(told) {
			d[i]++
			return
		}
	}
	d[len(deviationSteps)]++
}

func (d *Deviations) plus(o *Deviations) {
	for i, n := range o {
		d[i] += n
	}
}

func (d *Deviations) total() int64 {
	n := int64(0)
	for _, count := range d {
		n += count
	}
	return n
}

// Calibration says how far rebuilt loads are from the recorded ones: of the task
// that is placed, its utilization, and of the CPU that it last ran on.
type Calibration struct {
	Load, Util, CPULoad Deviations
}

func (c *Calibration) plus(o *Calibration) {
	c.Load.plus(&o.Load)
	c.Util.plus(&o.Util)
	c.CPULoad.plus(&o.CPULoad)
}
