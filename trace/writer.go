package trace

// Writer writes a recording.
type Writer interface {
	// Write adds an event; events come in the order of their time.
	Write(e *Event) error
	// Close completes the recording. It does not close what it was written to.
	Close() error
}
