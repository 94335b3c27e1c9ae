package sched

import (
	"reflect"
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// Every price has a name, and setting it by that name changes it and no other.
func TestPricesByName(t *testing.T) {
	want := DefaultPrices()
	if names, fields := len(priceFields), reflect.TypeFor[Prices]().NumField(); names != fields {
		t.Fatalf("%d names for %d prices", names, fields)
	}
	var got Prices
	want.Each(func(name string, ns int64) {
		if err := got.Set(name, ns); err != nil {
			t.Error(err)
		}
	})
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := got.Set("no_such", 1); err == nil {
		t.Error("a price that there is not was set")
	}
	if err := got.Set("probe", -1); err == nil || got.Probe != want.Probe {
		t.Errorf("a negative price: error %v, probe costs %d", err, got.Probe)
	}
}

// What EachTunable tells can be set again on a configuration of that kernel.
func TestTunablesByName(t *testing.T) {
	for _, kernel := range []string{"v4.14", "v6.1", "v7.2"} {
		p, err := LookupProfile(kernel)
		if err != nil {
			t.Fatal(err)
		}
		m, err := machine.Resolve("1n2c2t")
		if err != nil {
			t.Fatal(err)
		}
		cfg := NewConfig(m, p)
		n := 0
		cfg.EachTunable(func(name string, value int64) {
			n++
			if err := cfg.SetTunable(name, value); err != nil {
				t.Errorf("%s: %v", kernel, err)
			}
		})
		if n < 3 { // migration_cost_ns, nr_migrate and a slice at least
			t.Errorf("%s: %d tunables, want at least 3", kernel, n)
		}
	}
}
