package trace

import "google.golang.org/protobuf/encoding/protowire"

// Numbers of Perfetto's TrackDescriptor, CounterDescriptor and TrackEvent
// (protos/perfetto/trace/track_event).
const (
	packetTimestamp     = 8
	packetTrackEvent    = 11
	packetSequenceFlags = 13
	packetTrack         = 60

	trackUUID     = 1
	trackName     = 2
	trackParent   = 5
	trackCounter  = 8
	trackOrdering = 11
	trackRank     = 12

	counterUnitName = 6

	trackEventType    = 9
	trackEventTrack   = 11
	trackEventCounter = 30

	orderingExplicit         = 3 // ChildTracksOrdering.EXPLICIT
	typeCounter              = 4 // TrackEvent.TYPE_COUNTER
	incrementalCleared       = 1 // SEQ_INCREMENTAL_STATE_CLEARED: a sequence begins here
	sequenceFtrace           = 1
	sequenceTracks           = 2
	firstTrack         Track = 1
)

// Track is a track of numbers over time that a Perfetto trace has beside its
// events, or a group of such tracks.
type Track uint64

// DefineGroup adds a group of tracks, which Perfetto's UI can fold.
func (w *PerfettoWriter) DefineGroup(name string) (Track, error) {
	return w.defineTrack(name, func(out []byte) []byte { return appendProtoInt(out, trackOrdering, orderingExplicit) })
}

// DefineCounter adds a track of numbers to a group, in which tracks are shown in
// the order of their ranks. unit is what is counted, such as "threads".
func (w *PerfettoWriter) DefineCounter(group Track, name, unit string, rank int32) (Track, error) {
	return w.defineTrack(name, func(out []byte) []byte {
		out = appendProtoInt(out, trackParent, int64(group))
		out = appendProtoBytes(out, trackCounter, appendProtoBytes(nil, counterUnitName, []byte(unit)))
		return appendProtoInt(out, trackRank, int64(rank))
	})
}

func (w *PerfettoWriter) defineTrack(name string, rest func(out []byte) []byte) (Track, error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	w.tracks++
	track := firstTrack + w.tracks - 1
	w.content = appendProtoInt(w.content[:0], trackUUID, int64(track))
	w.content = appendProtoBytes(w.content, trackName, []byte(name))
	w.content = rest(w.content)
	w.packet = appendProtoBytes(w.packet[:0], packetTrack, w.content)
	if w.tracks == 1 {
		w.packet = appendProtoInt(w.packet, packetSequenceFlags, incrementalCleared)
	}
	return track, w.endPacket(sequenceTracks)
}

// Count says the value of a counter from a time on.
func (w *PerfettoWriter) Count(counter Track, at, value int64) error {
	w.content = appendProtoInt(w.content[:0], trackEventType, typeCounter)
	w.content = appendProtoInt(w.content, trackEventTrack, int64(counter))
	w.content = appendProtoInt(w.content, trackEventCounter, value)
	w.packet = protowire.AppendTag(w.packet[:0], packetTimestamp, protowire.VarintType)
	w.packet = protowire.AppendVarint(w.packet, uint64(at))
	w.packet = appendProtoBytes(w.packet, packetTrackEvent, w.content)
	return w.endPacket(sequenceTracks)
}
