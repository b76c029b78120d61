# gametable. `make help` says what there is.
#
# Each folder of src/ becomes one archive in $(B)/lib; a program links the archives of its layer
# and those below, so a look upwards fails at link time as well as in tools/layers.
#
#   make SAN=1 ...           under ASan and UBSan, in build/san
#   make TSAN=1 ...          under ThreadSanitizer, in build/tsan
#   make CC=clang B=build/clang ...

.DEFAULT_GOAL := all
CC      := gcc
CXX     := g++
CSTD    := -std=c17 -D_GNU_SOURCE
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
           -Wwrite-strings -Wundef -Wvla -Wno-missing-field-initializers -Werror
OPT     := -O2 -g -fno-omit-frame-pointer
B       := build
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
LIBS    := -lrocksdb -luv -lhttp_parser -lwslay -lssl -lcrypto -lz -lpthread -lm

# --- layers, from the top down; each may use those named, and tools/layers reads this table ---

LAYERS           := cli api net game table/local store rank table expr json value base
USES_base        :=
USES_value       := base
USES_json        := value base
USES_expr        := value base
USES_rank        := base
USES_store       := base
USES_table       := expr value base
USES_table/local := store rank table expr value base
USES_game        := table expr value base
USES_net         := base
USES_api         := net game table/local store rank table expr json value base
USES_cli         := api $(USES_api)
# What only the tests of a layer may use besides.
TESTS_expr       := json
TESTS_game       := table/local store rank

lib  = $(B)/lib/$(subst /,-,$(1)).a
libs = $(foreach l,$(1),$(call lib,$(l)))
srcs = $(if $(filter api,$(1)),$(wildcard src/api/*.c src/api/*/*.c),$(wildcard src/$(1)/*.c))
objs = $(patsubst src/%.c,$(B)/obj/%.o,$(call srcs,$(1)))
link_order = $(filter $(1),$(LAYERS))

all: $(B)/gametable ## build/gametable

define layer_rule
$(call lib,$(1)): $(call objs,$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	@ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

$(B)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	@echo "  cc $<"
	@$(CC) $(CFLAGS) -c $< -o $@

$(B)/gametable: $(B)/pages.o $(B)/pages-data.o $(call libs,$(LAYERS))
	@echo "  ld $@"
	@$(CC) $^ -o $@ $(LDFLAGS) $(LIBS)

# --- the pages: built by npm from web/, and carried in the program ---

WEB := $(shell find web/src web/public web/index.html web/*.js* -type f 2>/dev/null)

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

# tests/unit/<layer>/test_<file>.c is linked with <layer> and what it may use.
UNIT_SRC := $(shell find tests/unit -name 'test_*.c' 2>/dev/null | sort)
UNIT     := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT_SRC))

define unit_rule
$(B)/unit/$(1)/test_%: tests/unit/$(1)/test_%.c \
		$(call libs,$(call link_order,$(1) $(USES_$(1)) $(TESTS_$(1))))
	@mkdir -p $$(@D)
	@echo "  cc $$<"
	@$$(CC) $$(CFLAGS) -Itests/unit $$< $$(filter %.a,$$^) -o $$@ $$(LDFLAGS) -lcmocka $$(LIBS)
endef
$(foreach l,$(LAYERS),$(eval $(call unit_rule,$(l))))

unit: $(UNIT) ## the unit tests, in this build
	@tests/run-units $(UNIT)

check: build/.deps-check ## format, layer rule, unit tests under ASan and UBSan
	@$(MAKE) --no-print-directory format-check
	@tools/layers
	@$(MAKE) --no-print-directory -j2 SAN=1 unit

test: build/.deps-test check ## everything, on a fresh machine too
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory -j2 TSAN=1 unit-threads
	@$(MAKE) --no-print-directory fuzz SECONDS=3
	@$(MAKE) --no-print-directory clang-cli
	@tests/run-wire
	@tests/run-pages
	@tests/run-examples & examples=$$!; tests/run-crash && wait $$examples # the disk, and the processor

# clang makes the fuzz targets, with all layers but this one.
clang-cli:
	@clang $(CSTD) $(WARN) -Isrc -fsyntax-only $(call srcs,cli)

# The modules where threads meet, under ThreadSanitizer.
unit-threads: $(filter $(B)/unit/net/% $(B)/unit/store/% $(B)/unit/table/local/% $(B)/unit/value/test_names \
        $(B)/unit/game/test_keeper $(B)/unit/game/test_keeper_stats $(B)/unit/game/test_player \
        $(B)/unit/game/test_submit $(B)/unit/game/test_board_find $(B)/unit/game/test_room \
        $(B)/unit/api/test_live,$(UNIT))
	@tests/run-units $^

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

tidy: build/.deps-tidy ## clang-tidy over src/
	@printf '%s\n' $(filter src/%.c,$(C_FILES)) | \
	    xargs -P "$$(nproc)" -n 8 sh -c 'clang-tidy --quiet "$$@" -- $(CSTD) -Isrc' tidy

docs/settings.md: build/gametable
	@{ echo "# Settings of \`gametable serve\`"; echo; build/gametable help --settings; echo; \
	   echo "\`--config FILE\` reads them from a file of \`name = value\` lines, \`#\` begins a comment."; \
	   echo "A flag wins over the environment, the environment over the file."; } > $@

# --- installing ---

PREFIX  ?= /usr/local
DESTDIR ?=

install: build/gametable ## binary, man page, systemd unit, under PREFIX=/usr/local
	install -D -m 755 build/gametable $(DESTDIR)$(PREFIX)/bin/gametable
	build/gametable help --man > build/gametable.1
	install -D -m 644 build/gametable.1 $(DESTDIR)$(PREFIX)/share/man/man1/gametable.1
	sed 's|@PREFIX@|$(PREFIX)|' tools/gametable.service > build/gametable.service
	install -D -m 644 build/gametable.service $(DESTDIR)$(PREFIX)/lib/systemd/system/gametable.service

clean: ## remove build/
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all run unit unit-threads clang-cli check test fuzz fuzzers bench benches format format-check tidy \
        install clean help
.SECONDARY:
