package explain

import "testing"

func TestNearestProfileIsTheNewestThatIsNotNewer(t *testing.T) {
	for version, want := range map[string]string{
		"6.8.0-45-generic":             "v6.1", // v6.12 is newer
		"Linux version 6.18.44 (x@y)":  "v6.12",
		"4.14.0":                       "v4.14", // not v4.14-numa
		"Linux version 3.2.0-4-amd64 ": "v3.2",
	} {
		if p := NearestProfile(version); p == nil || p.Name != want {
			t.Errorf("%s: %v, want %s", version, p, want)
		}
	}
	for _, version := range []string{"2.6.32", "", "Linux"} {
		if p := NearestProfile(version); p != nil {
			t.Errorf("%q: %s, want none", version, p.Name)
		}
	}
}
