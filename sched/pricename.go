package sched

import "fmt"

// priceField is one price of [Prices] by the name that files use.
type priceField struct {
	name  string
	field func(*Prices) *int64
}

var priceFields = []priceField{
	{"search", func(p *Prices) *int64 { return &p.Search }},
	{"probe", func(p *Prices) *int64 { return &p.Probe }},
	{"probe_shared", func(p *Prices) *int64 { return &p.ProbeShared }},
	{"probe_modified", func(p *Prices) *int64 { return &p.ProbeModified }},
	{"probe_remote", func(p *Prices) *int64 { return &p.ProbeRemote }},
	{"probe_return", func(p *Prices) *int64 { return &p.ProbeReturn }},
	{"sibling_probe", func(p *Prices) *int64 { return &p.SiblingProbe }},
	{"domain_step", func(p *Prices) *int64 { return &p.DomainStep }},
	{"affine_check", func(p *Prices) *int64 { return &p.AffineCheck }},
	{"group_cpu", func(p *Prices) *int64 { return &p.GroupCPU }},
	{"task_examined", func(p *Prices) *int64 { return &p.TaskExamined }},
	{"task_moved", func(p *Prices) *int64 { return &p.TaskMoved }},
	{"remote_lock", func(p *Prices) *int64 { return &p.RemoteLock }},
	{"blocked_update", func(p *Prices) *int64 { return &p.BlockedUpdate }},
	{"shared_line_write", func(p *Prices) *int64 { return &p.SharedLineWrite }},
	{"bandwidth_check", func(p *Prices) *int64 { return &p.BandwidthCheck }},
	{"pool_lock", func(p *Prices) *int64 { return &p.PoolLock }},
	{"throttle_step", func(p *Prices) *int64 { return &p.ThrottleStep }},
	{"mask_update", func(p *Prices) *int64 { return &p.MaskUpdate }},
	{"mask_lookup", func(p *Prices) *int64 { return &p.MaskLookup }},
	{"mask_fetch", func(p *Prices) *int64 { return &p.MaskFetch }},
	{"mask_fetch_remote", func(p *Prices) *int64 { return &p.MaskFetchRemote }},
	{"pull_probe", func(p *Prices) *int64 { return &p.PullProbe }},
	{"map_lookup", func(p *Prices) *int64 { return &p.MapLookup }},
}

// Each calls f with the name and the value, in ns, of every price, always in
// the same order.
func (p *Prices) Each(f func(name string, ns int64)) {
	for _, pf := range priceFields {
		f(pf.name, *pf.field(p))
	}
}

// Set changes the price of that name; ns must not be negative.
func (p *Prices) Set(name string, ns int64) error {
	for _, pf := range priceFields {
		if pf.name != name {
			continue
		}
		if ns < 0 {
			return fmt.Errorf("price %s is %d ns; it must be 0 or more", name, ns)
		}
		*pf.field(p) = ns
		return nil
	}
	return fmt.Errorf("there is no price %q", name)
}

// EachTunable calls f with the name and the value of every tunable that the
// profile's kernel has and that has an effect here, in alphabetical order; boot
// options only when they are not as usual.
func (c *Config) EachTunable(f func(name string, value int64)) {
	for _, tf := range tunableFields {
		if tf.field == nil || !c.Profile.hasTunable(tf.name) {
			continue
		}
		if value := *tf.field(&c.Tunables); tf.name != bootOption || value != 1 {
			f(tf.name, value)
		}
	}
}
