# gametable. `make help` says what there is.
#
# Each folder of src/ becomes one archive in $(B)/lib; a program links the archives of its layer
# and those below, so a look upwards fails at link time as well as in tools/layers.
#
#   make SAN=1 ...           under ASan and UBSan, in build/san
#   make TSAN=1 ...          under ThreadSanitizer, in build/tsan
#   make COVERAGE=1 ...      counting the lines that run, in build/coverage
#   make CC=clang B=build/clang ...
#   make LTO= ...            without optimizing across files: links in a second, for who changes code

.DEFAULT_GOAL := all
CC      := gcc
CXX     := g++
CSTD    := -std=c17 -D_GNU_SOURCE
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
           -Wwrite-strings -Wundef -Wvla -Wno-missing-field-initializers -Werror
OPT     := -O2 -g -fno-omit-frame-pointer
B       := build
# gcc optimizes across files when a program is linked (decision 190); its own ar keeps what that takes.
LTO     ?= $(if $(findstring gcc,$(CC)),-flto=auto)
ifneq ($(LTO),)
OPT     += $(LTO)
AR      := gcc-ar
endif
ifdef SAN
B       := build/san
# A null pointer that is followed ends a program anyway, and ASan says where; looking at each before
# it is followed takes a quarter of the build.
OPT     := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=null \
           -fno-sanitize-recover=all
endif
ifdef TSAN
B       := build/tsan
OPT     := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
export TSAN_OPTIONS ?= suppressions=$(CURDIR)/tests/tsan.supp
endif
ifdef COVERAGE
B       := build/coverage
# Threads count the same lines: plain counters would lose some.
OPT     := -O0 -g1 --coverage -fprofile-update=atomic
endif
ifdef FUZZING
B       := build/fuzz
CC      := clang
# What is looked at before each pointer is followed takes a third of the build; the units look at
# most of it.
OPT     := -O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
           -fno-sanitize=null,alignment,object-size -fno-sanitize-recover=all
endif
CFLAGS  += $(CSTD) $(WARN) $(OPT) -Isrc -MMD -MP
LDFLAGS += $(OPT)
ifneq ($(findstring -flto,$(OPT)),)
# What gcc suspects of functions that it inlined across files differs from program to program: it is
# said, and does not end the link. Each file by itself was compiled without a warning.
LDFLAGS += -Wno-error
endif
LIBS    := -lrocksdb -lzstd -luv -lhttp_parser -lssl -lcrypto -lz -ldeflate -llua5.1 -lpthread -lm

# --- layers, from the top down; each may use those named, and tools/layers reads this table ---

LAYERS           := cli api table/remote net game table/local store rank table expr json value base
USES_base        :=
USES_value       := base
USES_json        := value base
USES_expr        := value base
USES_rank        := base
USES_store       := base
USES_table       := expr value base
USES_table/local := store rank table expr value base
USES_table/remote := net table expr json value base
USES_game        := table expr value base
USES_net         := base
USES_api         := net game table expr json value base
USES_cli         := api table/remote table/local store rank $(USES_api)
# What only the tests of a layer may use besides.
TESTS_expr       := json
TESTS_table/remote := table/local store rank
TESTS_game       := table/local store rank
TESTS_api        := table/local store rank

lib  = $(B)/lib/$(subst /,-,$(1)).a
libs = $(foreach l,$(1),$(call lib,$(l)))
srcs = $(wildcard src/$(1)/*.c $(if $(filter api game,$(1)),src/$(1)/*/*.c))
objs = $(patsubst src/%.c,$(B)/obj/%.o,$(call srcs,$(1)))
link_order = $(filter $(1),$(LAYERS))

all: $(B)/gametable ## build/gametable

define layer_rule
$(call lib,$(1)): $(call objs,$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	@$$(AR) rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

$(B)/obj/%.o: src/%.c | build/.deps-build
	@mkdir -p $(@D)
	@echo "  cc $<"
	@$(CC) $(CFLAGS) -c $< -o $@

$(B)/gametable: $(B)/pages.o $(B)/pages-data.o $(call libs,$(LAYERS))
	@echo "  ld $@"
	@$(CC) $^ -o $@ $(LDFLAGS) $(LIBS)

# --- the pages: built by npm from web/, and carried in the program ---

WEB := $(shell find web/src web/public web/*.html web/*.js* -type f 2>/dev/null)

build/web/index.html: $(WEB) | build/.deps-web
	@echo "  npm web"
	@[ web/node_modules/.package-lock.json -nt web/package-lock.json ] || \
	    (cd web && npm ci --no-audit --no-fund --ignore-scripts >/dev/null && \
	     touch node_modules/.package-lock.json)
	@cd web && npm run -s build -- --outDir ../build/web --emptyOutDir --logLevel warn
	@touch $@

$(B)/pages.c: build/web/index.html tools/embed
	@mkdir -p $(@D)
	@tools/embed build/web $(B)/pages
$(B)/pages.o: $(B)/pages.c
	@$(CC) $(CFLAGS) -c $(B)/pages.c -o $@
$(B)/pages-data.o: $(B)/pages.c
	@$(CC) -c $(B)/pages.S -o $@

# --- running ---

run: build/.deps-build ## install what is missing, build, serve; ARGS="..." passes flags on
	@$(MAKE) --no-print-directory -j2 build/gametable
	@exec build/gametable serve $(ARGS)

build/.deps-%: tools/deps
	@mkdir -p build
	@tools/deps $*
	@touch $@

# --- tests ---

# tests/unit/<layer>/.../test_<file>.c is linked with <layer> and what it may use.
UNIT_SRC := $(shell find tests/unit -name 'test_*.c' 2>/dev/null | sort)
UNIT     := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT_SRC))

define unit_rule
$(B)/unit/$(1)/%: tests/unit/$(1)/%.c \
		$(call libs,$(call link_order,$(1) $(USES_$(1)) $(TESTS_$(1))))
	@mkdir -p $$(@D)
	@echo "  cc $$<"
	@$$(CC) $$(CFLAGS) -Itests/unit $$< $$(filter %.a,$$^) -o $$@ $$(LDFLAGS) -lcmocka $$(LIBS)
endef
$(foreach l,$(LAYERS),$(eval $(call unit_rule,$(l))))

unit: $(UNIT) ## the unit tests, in this build
	@tests/run-units $(UNIT)

check: build/.deps-check ## format, layer rule, files that documents name, unit tests under ASan and UBSan
	@$(MAKE) --no-print-directory format-check
	@tools/layers
	@tools/named-files
	@$(MAKE) --no-print-directory -j2 SAN=1 unit

# The same random choices for everybody, so that a change is judged by itself; `make test SEED=7` draws others, and
# so do sim, powercut, faults, damage, crash, soak and fuzz, each time.
test: export SEED ?= 1
test: build/.deps-test check ## everything, on a fresh machine too; SEED= for other random choices
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory tidy
	@$(MAKE) --no-print-directory -j2 TSAN=1 unit-threads
	@$(MAKE) --no-print-directory fuzz SECONDS=3
	@$(MAKE) --no-print-directory clang-cli
	@tests/run-wire
	@tests/run-pages
	@$(MAKE) --no-print-directory -j2 disk-programs
	@tests/run-disk
	@$(MAKE) --no-print-directory -j2 $(B)/sim/sim
	@tests/run-sim
	@tests/run-cluster
	@tests/run-examples & examples=$$!; tests/run-crash && wait $$examples # the disk, and the processor

# clang makes the fuzz targets, with all layers but this one.
clang-cli:
	@clang $(CSTD) $(WARN) -Isrc -fsyntax-only $(call srcs,cli)

# The modules where threads meet, under ThreadSanitizer.
unit-threads: $(filter $(B)/unit/net/% $(B)/unit/store/% $(B)/unit/table/local/% $(B)/unit/value/test_names $(B)/unit/table/remote/test_rank_redis $(B)/unit/table/remote/test_transport \
        $(B)/unit/game/test_housekeeping $(B)/unit/game/player/test_player_stats \
        $(B)/unit/game/player/test_player $(B)/unit/game/player/test_player_hide $(B)/unit/game/player/test_player_export_erase \
        $(B)/unit/game/player/test_player_boards $(B)/unit/game/player/test_hidden_players $(B)/unit/game/board/test_submit \
        $(B)/unit/game/board/test_submit_check $(B)/unit/game/board/test_board_cache $(B)/unit/game/room/test_room \
        $(B)/unit/api/live/test_live $(B)/unit/api/live/test_live_hub $(B)/unit/api/test_background $(B)/unit/api/metrics/test_metrics \
        $(B)/unit/api/test_change_submit $(B)/unit/api/test_offload,$(UNIT))
	@tests/run-units $^

# Which lines the units and the wire tests run. Counts of earlier runs are forgotten; a test that fails is
# shown and does not keep the table from being made.
coverage: build/.deps-coverage build/.deps-test ## lines that tests run, by folder; GCOVR="--html-details FILE"
	@$(MAKE) --no-print-directory -j2 COVERAGE=1 all coverage-units
	@find build/coverage -name '*.gcda' -delete
	@-tests/run-units $(patsubst tests/unit/%.c,build/coverage/unit/%,$(UNIT_SRC))
	@-GAMETABLE=$(CURDIR)/build/coverage/gametable tests/run-wire
	@tools/coverage build/coverage $(GCOVR)

coverage-units: $(UNIT)

# --- the disk: power cuts, faults, damage (tests/disk/README.md) ---

N ?= 2000

SHIM_SRC := tests/shim/file_shim.c tests/shim/shim_names.c tests/shim/shim_faults.c

$(B)/disk/file_shim.so: $(SHIM_SRC) $(wildcard tests/shim/*.h)
	@mkdir -p $(@D)
	@echo "  cc $<"
	@$(CC) $(filter-out -MMD -MP,$(CFLAGS)) -fPIC -shared $(SHIM_SRC) -o $@ -ldl

$(B)/disk/powercut: tests/disk/powercut.c tests/disk/disk_model.c tests/disk/disk_cut.c tests/disk/ack_model.c \
		tests/disk/journal.c $(wildcard tests/disk/*.h tests/shim/*.h) $(call libs,table/local store rank table expr value base)
	@mkdir -p $(@D)
	@echo "  cc $<"
	@$(CC) $(filter-out -MMD -MP,$(CFLAGS)) -Itests/shim -Itests/disk $(filter %.c,$^) $(filter %.a,$^) -o $@ $(LDFLAGS) $(LIBS)

# The engine with the file shim and a simulated clock in one program; -rdynamic lets shared libraries
# find the shim's functions before the C library's.
$(B)/sim/sim: tests/sim/sim.c tests/sim/sim_clock.c tests/sim/sim_disk.c tests/sim/sim_load.c $(SHIM_SRC) \
		tests/disk/disk_model.c tests/disk/disk_cut.c tests/disk/ack_model.c tests/disk/journal.c \
		$(wildcard tests/sim/*.h tests/disk/*.h tests/shim/*.h) $(call libs,table/local store rank table expr value base)
	@mkdir -p $(@D)
	@echo "  cc $<"
	@$(CC) $(filter-out -MMD -MP,$(CFLAGS)) -Itests/shim -Itests/disk -Itests/sim $(filter %.c,$^) $(filter %.a,$^) -o $@ \
	    $(LDFLAGS) -rdynamic -Wl,--wrap=clock_gettime -Wl,--wrap=pthread_cond_timedwait $(LIBS) -ldl

sim: ## the engine on a simulated disk and clock, N=2000 seeds; SEED= the first, TIMES= each so often
	@$(MAKE) --no-print-directory -j2 $(B)/sim/sim
	@N=$(N) SEED=$(or $(SEED),$(strip $(shell od -An -N4 -tu4 /dev/urandom))) TIMES=$(or $(TIMES),1) tests/run-sim

disk-programs: $(B)/gametable $(B)/disk/file_shim.so $(B)/disk/powercut

powercut: build/.deps-test ## the power goes N=2000 times in a recorded run, and each disk is opened
	@$(MAKE) --no-print-directory -j2 disk-programs
	@N=$(N) node tests/disk/powercut.mjs

faults: build/.deps-test ## each file operation of a scripted run fails once, in turn
	@$(MAKE) --no-print-directory -j2 disk-programs
	@ALL=1 node tests/disk/faults.mjs
	@ALL=1 node tests/disk/handover-faults.mjs

damage: build/.deps-test ## files of a folder are damaged at N=2000 random places: told or harmless
	@$(MAKE) --no-print-directory -j2 all
	@N=$(N) node tests/disk/damage.mjs

KILLS ?= 1000

crash: build/.deps-test ## all front ends at once, KILLS=1000 times SIGKILL, nothing acknowledged lost
	@$(MAKE) --no-print-directory -j2 all
	@KILLS=$(KILLS) node tests/crash/crash.mjs

cluster: build/.deps-test ## three nodes, Redis and the endpoint fail in turn, ten times over; bots play meanwhile
	@$(MAKE) --no-print-directory -j2 all
	@tests/run-cluster --times 10 --seconds 2 --workers 8 --rooms 8 --bots 32 --rounds 50

HOURS ?= 1

soak: build/.deps-test ## for HOURS=1: all front ends, kills and faults together, bounds on memory and waits
	@$(MAKE) --no-print-directory -j2 disk-programs
	@HOURS=$(HOURS) node tests/disk/soak.mjs

# --- fuzzing ---

SECONDS  ?= 60
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZERS  := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(FUZZ_SRC))

fuzz: build/.deps-check ## each fuzz target for SECONDS=60
	@$(MAKE) --no-print-directory -j2 FUZZING=1 fuzzers
	@tests/run-fuzz $(SECONDS) $(FUZZERS)

fuzzers: $(FUZZERS)

build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(call libs,$(filter-out cli,$(LAYERS)))
	@mkdir -p $(@D)
	@echo "  cc $<"
	@$(CC) $(CFLAGS) $< $(filter %.a,$^) -o $@ $(subst fuzzer-no-link,fuzzer,$(LDFLAGS)) $(LIBS)

# --- speed ---

BENCHES := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/bench_*.c))

bench: build/.deps-bench build/.deps-test ## the figures of docs/benchmarks.md, side by side
	@$(MAKE) --no-print-directory -j2 all benches
	@bench/run

budget: build/.deps-test ## the worst wait of others behind each command and operation; MEMBERS=, BOUND= (ms)
	@$(MAKE) --no-print-directory -j2 build/gametable
	@node tests/budget/budget.mjs --members $(or $(MEMBERS),1000000) --bound $(or $(BOUND),10)

lighthouse: build/.deps-test ## every page for players, with 200 boards: at least 95 in performance, 100 in accessibility
	@$(MAKE) --no-print-directory -j2 build/gametable
	@tests/run-lighthouse build/lighthouse

benches: $(BENCHES)

$(B)/bench/%: bench/%.c $(call libs,$(filter-out cli,$(LAYERS)))
	@mkdir -p $(@D)
	@echo "  cc $<"
	@$(CC) $(CFLAGS) $< $(filter %.a,$^) -o $@ $(LDFLAGS) $(LIBS)

# The tree's bench has std::set beside it, which takes a C++ compiler.
$(B)/bench/bench_tree: bench/bench_tree.c bench/bench_set.cc $(call libs,rank base)
	@mkdir -p $(@D)
	@echo "  cc $<"
	@$(CC) $(CFLAGS) -c $< -o $(B)/bench/bench_tree.o
	@$(CXX) -std=c++17 -O2 -g -c bench/bench_set.cc -o $(B)/bench/bench_set.o
	@$(CXX) $(B)/bench/bench_tree.o $(B)/bench/bench_set.o $(filter %.a,$^) -o $@

# --- keeping it tidy ---

C_FILES = $(shell git ls-files -co --exclude-standard 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]')

format: build/.deps-check ## lay out all C files by clang-format
	@clang-format -i $(C_FILES)

format-check:
	@clang-format --dry-run -Werror $(C_FILES)

# A file is looked at again when its object has been made again. The analyzer follows a function's paths up
# to TIDY_NODES steps: its own bound of 225000 takes ten times as long for the largest files.
TIDY_NODES ?= 20000
TIDY := $(patsubst src/%.c,build/tidy/%,$(foreach l,$(LAYERS),$(call srcs,$(l))))

tidy: build/.deps-tidy ## clang-tidy over src/, where it changed; fails on a warning
	@$(MAKE) --no-print-directory -k -j"$$(nproc)" tidy-files

tidy-files: $(TIDY)

build/tidy/%: build/obj/%.o .clang-tidy
	@mkdir -p $(@D)
	@echo "  tidy src/$*.c"
	@clang-tidy --quiet src/$*.c -- $(CSTD) -Isrc -Xclang -analyzer-config -Xclang max-nodes=$(TIDY_NODES) 2>/dev/null
	@touch $@

# For editors and tools that want to know how a file is compiled: the flags of the rules above.
COMPILED = $(filter %.c,$(C_FILES))

compile_commands.json: Makefile $(foreach l,$(LAYERS),$(call srcs,$(l))) $(UNIT_SRC) $(FUZZ_SRC)
	@printf '%s\n' $(COMPILED) | awk -v dir='$(CURDIR)' \
	    -v call='$(CC) $(filter-out -MMD -MP,$(CFLAGS)) -Itests/unit -c' \
	    '{printf "%s{\"directory\":\"%s\",\"file\":\"%s\",\"command\":\"%s %s\"}", \
	             NR == 1 ? "[\n" : ",\n", dir, $$1, call, $$1} END {print "\n]"}' > $@

docs/settings.md: build/gametable
	@{ echo "# Settings of \`gametable serve\`"; echo; build/gametable help --settings; echo; \
	   echo "\`--config FILE\` reads them from a file of \`name = value\` lines, \`#\` begins a comment."; \
	   echo "A flag wins over the environment, the environment over the file."; } > $@

# --- installing ---

PREFIX  ?= /usr/local
CONFIG  ?= /etc/gametable
DESTDIR ?=

install: build/gametable ## binary, man page, systemd unit, under PREFIX=/usr/local; settings in /etc/gametable
	install -D -m 755 build/gametable $(DESTDIR)$(PREFIX)/bin/gametable
	build/gametable help --man > build/gametable.1
	install -D -m 644 build/gametable.1 $(DESTDIR)$(PREFIX)/share/man/man1/gametable.1
	sed 's|@PREFIX@|$(PREFIX)|; s|@CONFIG@|$(CONFIG)|' tools/gametable.service > build/gametable.service
	install -D -m 644 build/gametable.service $(DESTDIR)$(PREFIX)/lib/systemd/system/gametable.service
	[ -e $(DESTDIR)$(CONFIG)/gametable.conf ] || install -D -m 644 tools/gametable.conf $(DESTDIR)$(CONFIG)/gametable.conf

clean: ## remove build/
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all run disk-programs sim powercut faults damage crash soak cluster unit unit-threads clang-cli check test coverage coverage-units fuzz fuzzers bench benches budget lighthouse \
        format format-check tidy tidy-files install clean help
.SECONDARY:
