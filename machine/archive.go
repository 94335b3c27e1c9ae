package machine

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Bounds on what an archive may unpack to. A copy of the sysfs of 4,096 CPUs
// has some 400,000 files of a few bytes; tar pads each to 1 KiB.
const (
	maxUnpackedBytes = 1 << 30
	maxUnpackedFiles = 1 << 20
	maxSysfsFile     = 1 << 18
)

func isArchive(data []byte) bool {
	return isBzip2(data) || isGzip(data) || isTar(data)
}

func isBzip2(data []byte) bool { return bytes.HasPrefix(data, []byte("BZh")) }
func isGzip(data []byte) bool  { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// isTar looks for the magic of POSIX and GNU tar.
func isTar(data []byte) bool {
	return len(data) > 262 && bytes.Equal(data[257:262], []byte("ustar"))
}

func readArchive(name string, data []byte) (*Imported, error) {
	r, err := decompress(data)
	if err != nil {
		return nil, err
	}
	tree, err := unpackSysfs(tar.NewReader(r))
	if err != nil {
		return nil, err
	}
	return ImportSysfs(tree, importName(name))
}

func decompress(data []byte) (io.Reader, error) {
	var r io.Reader = bytes.NewReader(data)
	switch {
	case isBzip2(data):
		r = bzip2.NewReader(r)
	case isGzip(data):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		r = z
	}
	return &boundedReader{r, maxUnpackedBytes}, nil
}

// boundedReader fails, instead of ending, after n bytes: an archive cut short
// must not pass for a whole one.
type boundedReader struct {
	r io.Reader
	n int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.n <= 0 {
		return 0, fmt.Errorf("unpacks to more than %d MiB: not a copy of sysfs", maxUnpackedBytes>>20)
	}
	p = p[:min(int64(len(p)), b.n)]
	n, err := b.r.Read(p)
	b.n -= int64(n)
	return n, err
}

// unpackSysfs keeps the files below devices/system/cpu and devices/system/node.
// A symbolic link becomes an empty file: only that cpuN/nodeM exists matters.
func unpackSysfs(r *tar.Reader) (*memFS, error) {
	tree := newMemFS()
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return tree, nil
		}
		if err != nil {
			return nil, fmt.Errorf("tar: %w", err)
		}
		name := path.Clean(strings.TrimPrefix(h.Name, "/"))
		if !isTopologyFile(name) {
			continue
		}
		if len(tree.files) >= maxUnpackedFiles {
			return nil, fmt.Errorf("tar: more than %d files of CPUs and nodes", maxUnpackedFiles)
		}
		data, err := unpackFile(r, h)
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeDir {
			tree.add(name, data)
		}
	}
}

func isTopologyFile(name string) bool {
	return strings.Contains(name, "devices/system/cpu/") || strings.Contains(name, "devices/system/node/")
}

func unpackFile(r io.Reader, h *tar.Header) ([]byte, error) {
	if h.Typeflag != tar.TypeReg {
		return nil, nil
	}
	if h.Size > maxSysfsFile {
		return nil, fmt.Errorf("tar: %s has %d bytes, no file of sysfs is that large", abbreviate(h.Name), h.Size)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("tar: %s: %w", abbreviate(h.Name), err)
	}
	return data, nil
}
