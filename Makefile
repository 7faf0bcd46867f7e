# Short names for what one does with Guildhall. The builds themselves are
# Meson's; scripts/build knows their configurations.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
DATA ?= data

.DEFAULT_GOAL := help
.PHONY: help run build dev test nightly cluster cluster-test bench bench-counts fuzz dist static arm64 format \
	lint install clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

run: build ## build, then serve a small world from the folder data/ on 127.0.0.1:8080
	@mkdir -p "$(DATA)"
	@exec build/guildhall demo --data "$(DATA)"

build: ## the release binary, build/guildhall
	@scripts/setup build
	@scripts/build release
	@install -m 755 build/release/src/guildhall build/guildhall

dev: ## the build to work with, build/debug, and what to do with it
	@scripts/setup test
	@scripts/build debug
	@sed -n '/^## One test/,/^## /s/^\(build\|scripts\|gdb\|meson\)/  &/p' CONTRIBUTING.md

test: ## what a change has to pass: the tests on both stores, under the sanitizers
	@scripts/setup test
	@scripts/test

nightly: ## what costs too much for every change: growth, every screen, all counts, all threads
	@scripts/setup test
	@scripts/test nightly

cluster: build ## three servers on a PostgreSQL of their own, with a small world, until Ctrl-C
	@scripts/setup test
	@exec scripts/cluster build/guildhall

cluster-test: ## the tests of several servers on one database, for longer
	@scripts/setup test
	@scripts/build debug
	@scripts/with-postgres python3 tests/cluster/round.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/moves.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/looks.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/carried.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/many_rooms.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/killed.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/lost.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/stopped.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/cuts.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/balancer.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/database.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/failover.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/skew.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/latency.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/upgrade.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/presence.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/faults.py --long build/debug/src/guildhall
	@python3 tests/cluster/restart.py --long build/debug/src/guildhall

bench: build ## measure against a bare server that answers the same bytes
	@scripts/setup bench
	@scripts/bench --platform

bench-counts: build ## count instructions a call, and compare them with bench/counts.json
	@scripts/setup bench
	@scripts/bench-counts

fuzz: ## run each fuzzer for FUZZ_SECONDS (60)
	@scripts/setup test
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

dist: ## what people install, in build/dist: a Debian package and the source
	@scripts/setup package
	@scripts/package deb
	@scripts/package source

static: ## one file that runs on any Linux of this machine's kind, in build/dist
	@scripts/setup static
	@scripts/package static

arm64: ## the Debian package and the static file for 64-bit ARM, by cross compiler
	@scripts/setup arm64
	@scripts/package deb arm64
	@scripts/package static arm64

format: ## lay the C files out as .clang-format says
	@git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

lint: ## clang-tidy and cppcheck
	@scripts/setup lint
	@scripts/lint

install: build ## binary, manual, systemd unit and sample configuration (PREFIX, DESTDIR)
	install -D -m 755 build/guildhall "$(DESTDIR)$(PREFIX)/bin/guildhall"
	install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system" "$(DESTDIR)$(PREFIX)/share/man/man1" \
		"$(DESTDIR)$(PREFIX)/share/man/man5"
	build/guildhall manual >"$(DESTDIR)$(PREFIX)/share/man/man1/guildhall.1"
	build/guildhall manual conf >"$(DESTDIR)$(PREFIX)/share/man/man5/guildhall.conf.5"
	sed 's|/usr/local/bin|$(PREFIX)/bin|' packaging/guildhall.service \
		>"$(DESTDIR)$(PREFIX)/lib/systemd/system/guildhall.service"
	test -e "$(DESTDIR)/etc/guildhall/guildhall.conf" || \
		install -D -m 644 packaging/guildhall.conf "$(DESTDIR)/etc/guildhall/guildhall.conf"

clean: ## remove build/; data/ stays
	rm -rf build
