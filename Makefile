# Thin names for the commands; .ci/run needs no make.

GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: build check test invariants race fuzz bench lint format tools clean

build: ## static binary in bin/schedlab
	CGO_ENABLED=0 go build -trimpath -o bin/schedlab ./cmd/schedlab

check: ## what CI runs
	.ci/run

test:
	go test ./...

invariants: ## every simulation checks itself after every event
	go test -tags invariants ./sim ./experiment ./cli ./cmd/...

race: ## needs a C compiler
	go test -race ./experiment ./cli ./sim

fuzz: ## FUZZ=FuzzName PACKAGE=./machine
	go test -run '^$$' -fuzz '$(FUZZ)' -fuzztime 60s $(PACKAGE)

bench:
	go test -run '^$$' -bench . ./...

lint:
	go tool -modfile=tools/go.mod staticcheck ./...
	bin/golangci-lint run ./...

format:
	gofmt -w .

tools: ## golangci-lint into bin/; some minutes
	GOBIN="$(CURDIR)/bin" go install $(GOLANGCI_LINT)

clean:
	rm -rf bin
