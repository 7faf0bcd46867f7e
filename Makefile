# Short commands for building and testing Guildhall. The builds use Meson; scripts/build defines
# their configurations.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
DATA ?= data

.DEFAULT_GOAL := help
.PHONY: help run build dev test nightly cluster cluster-test bench bench-counts fuzz deb dist static arm64 format \
	lint install clean site

help: ## list these commands
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

run: build ## build, then serve the demo's data from the folder data/ on 127.0.0.1:8080
	@mkdir -p "$(DATA)"
	@exec build/guildhall demo --data "$(DATA)"

build: ## make the release binary, build/guildhall
	@scripts/setup build
	@scripts/build release src/guildhall
	@install -m 755 build/release/src/guildhall build/guildhall

dev: ## make the debug build, build/debug, and print how to use it
	@scripts/setup test
	@scripts/build debug
	@sed -n '/^## One test/,/^## /s/^\(build\|scripts\|gdb\|meson\)/  &/p' CONTRIBUTING.md

test: ## run the tests that a change must pass, on both stores and with sanitizers
	@scripts/setup test
	@scripts/test

nightly: ## run the slow tests: growth, every screen, all counts, all threads
	@scripts/setup test
	@scripts/test nightly

cluster: build ## run three nodes on a temporary PostgreSQL with the demo's data, until Ctrl-C
	@scripts/setup test
	@exec scripts/cluster build/guildhall

cluster-test: ## run the long tests of several nodes on one database
	@scripts/setup test
	@scripts/build debug
	@scripts/with-postgres python3 tests/cluster/guarantees.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/session_moves.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/session_starts.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/message_order.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/voice_rooms.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/rooms_of_killed_node.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/killed_nodes.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/lost_machines.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/paused_nodes.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/network_cuts.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/balancer.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/database_restarts.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/database_failover.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/standby_reads.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/remote_database.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/clock_skew.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/latency.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/rolling_upgrade.py --long build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/presence.py build/debug/src/guildhall
	@scripts/with-postgres python3 tests/cluster/planted_faults.py --long build/debug/src/guildhall
	@python3 tests/cluster/server_restart.py --long build/debug/src/guildhall

bench: build ## measure the cost relative to a bare server that sends the same bytes
	@scripts/setup bench
	@scripts/bench --platform

bench-counts: build ## count the instructions per request, and compare them with bench/counts.json
	@scripts/setup bench
	@scripts/build release
	@scripts/bench-counts

fuzz: ## run each fuzzer for FUZZ_SECONDS (60)
	@scripts/setup test
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

deb: ## make the Debian package in build/dist
	@scripts/setup package
	@scripts/package deb

dist: ## make all files of a release in build/dist, on x86-64 (docs/releasing.md)
	@scripts/setup dist
	@scripts/package all

static: ## make a static program for any Linux of this architecture in build/dist
	@scripts/setup static
	@scripts/package static

arm64: ## make the Debian package and the static program for 64-bit ARM with a cross compiler
	@scripts/setup arm64
	@scripts/package deb arm64
	@scripts/package static arm64

site: ## make the documentation as static files in build/site
	@scripts/setup build
	@scripts/make-site build/site

format: ## format the C files with clang-format
	@git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

lint: ## run clang-tidy and cppcheck
	@scripts/setup lint
	@scripts/lint

install: build ## install binary, manual, systemd unit and sample configuration (PREFIX, DESTDIR)
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
