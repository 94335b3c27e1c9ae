package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Listen binds a port of this machine's own addresses, 127.0.0.1 and, where
// there is one, ::1; port 0 takes a free one. It returns the port.
func Listen(port int) ([]net.Listener, int, error) {
	first, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, 0, fmt.Errorf("port %d of 127.0.0.1 cannot be had: %w; --port 0 takes a free one", port, err)
	}
	address, ok := first.Addr().(*net.TCPAddr)
	if !ok {
		return nil, 0, errors.Join(fmt.Errorf("%s is not an address of TCP", first.Addr()), first.Close())
	}
	listeners := []net.Listener{first}
	// A machine without IPv6, or with that port taken there, is served over IPv4.
	if second, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(address.Port))); err == nil {
		listeners = append(listeners, second)
	}
	return listeners, address.Port, nil
}

// Serve answers on the listeners until ctx ends; that is no error.
func (s *Server) Serve(ctx context.Context, listeners []net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- server.Serve(l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	return errors.Join(err, server.Close())
}
