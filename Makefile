# gametable. `make help` lists what there is.
#
# Each folder of src/ becomes one archive in $(B)/lib; a program links the archives of its layer
# and those below, so a look upwards fails at link time as well as in `make check`.
#
#   make                     build/gametable
#   make SAN=1 ...           the same under ASan and UBSan, in build/san
#   make TSAN=1 ...          under ThreadSanitizer, in build/tsan
#   make CC=clang ...        with another compiler

CC      ?= gcc
CSTD    := -std=c17 -D_GNU_SOURCE
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
           -Wwrite-strings -Wundef -Wvla -Wno-missing-field-initializers -Werror
OPT     := -O2 -g -fno-omit-frame-pointer
B       := build
ifdef SAN
B       := build/san
OPT     := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
endif
ifdef TSAN
B       := build/tsan
OPT     := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
endif
CFLAGS  += $(CSTD) $(WARN) $(OPT) -Isrc -MMD -MP
LDFLAGS += $(OPT)
LIBS    := -lrocksdb -luv -lhttp_parser -lssl -lcrypto -lz -lpthread -lm

# Layers from the top down; link order is the layer rule.
LAYERS  := cli api net table/local store rank table expr json value base
name     = $(subst /,-,$(1))
srcs     = $(wildcard src/$(1)/*.c)
API_SRC := $(wildcard src/api/*.c src/api/*/*.c)
objs     = $(patsubst src/%.c,$(B)/obj/%.o,$(if $(filter api,$(1)),$(API_SRC),$(call srcs,$(1))))
lib      = $(B)/lib/$(call name,$(1)).a

all: $(B)/gametable

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

$(B)/gametable: $(foreach l,$(LAYERS),$(call lib,$(l)))
	@echo "  ld $@"
	@$(CC) $(LDFLAGS) $^ -o $@ $(LIBS)

# What each layer may use, as in ARCHITECTURE.md; tools/layers checks the includes against it too.
USES_base        :=
USES_value       := base
USES_json        := value base
USES_expr        := value base
USES_rank        := base
USES_store       := base
USES_table       := expr value base
USES_table/local := store rank table expr value base
USES_net         := base
USES_api         := net table/local store rank table expr json value base
USES_cli         := api $(USES_api)

# Unit tests: tests/unit/<layer>/test_<file>.c is linked with <layer> and what it may use.
UNIT_SRC := $(shell find tests/unit -name 'test_*.c' 2>/dev/null | sort)
UNIT     := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT_SRC))

define unit_rule
$(B)/unit/$(1)/test_%: tests/unit/$(1)/test_%.c $(foreach l,$(1) $(USES_$(1)),$(call lib,$(l)))
	@mkdir -p $$(@D)
	@echo "  cc $$<"
	@$$(CC) $$(CFLAGS) -Itests/unit $$< $$(filter %.a,$$^) -o $$@ $$(LDFLAGS) -lcmocka $$(LIBS)
endef
$(foreach l,$(LAYERS),$(eval $(call unit_rule,$(l))))

unit: $(UNIT)
	@set -e; for t in $(UNIT); do $$t; done

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all unit
