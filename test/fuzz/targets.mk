# targets.mk: builds the fuzz targets.
#
#   make -f test/fuzz/targets.mk             with libFuzzer: build/fuzz/fuzz_*
#   make -f test/fuzz/targets.mk REPLAY=1    that replay the corpus: build/sanitize/test/fuzz/fuzz_*,
#                                            with the layers of the unit tests (unit.mk)
#
# Both use ASan and UBSan.  HEADERS is the folder of postgres.h, which fuzz_values needs;
# without it that target is not built.

OUT = build/$(if $(REPLAY),sanitize,fuzz)
PROGRAMS = $(OUT)/$(if $(REPLAY),test/fuzz/)fuzz_
HEADERS ?= $(shell $(or $(PG_CONFIG),pg_config) --includedir-server 2>/dev/null)
COMPILER = $(if $(REPLAY),gcc,$(or $(firstword $(foreach c,clang clang-19 clang-16 clang-14 clang-11,$(if $(shell command -v $(c)),$(c)))),clang))
comma = ,
SANITIZERS = -fsanitize=$(if $(REPLAY),,fuzzer$(comma))undefined$(comma)address -fno-sanitize-recover=all
CFLAGS = -O1 -g -fno-omit-frame-pointer -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
# Warnings in PostgreSQL's headers are not ours.
SERVER_CFLAGS = -Wno-ignored-attributes -Wno-implicit-fallthrough -isystem $(HEADERS)

PLAIN_TARGETS = $(filter-out values,$(patsubst test/fuzz/fuzz_%.c,%,$(wildcard test/fuzz/fuzz_*.c)))
TARGETS = $(PLAIN_TARGETS) $(if $(wildcard $(HEADERS)/postgres.h),values)
LAYERS = $(sort $(wildcard src/core/*/*.c))
TYPES = $(addprefix src/extension/,calls/arguments.c calls/schemes.c calls/texts.c study/lsh.c study/samples.c types/ball.c types/distance.c \
	types/hashes.c types/lexicon_type.c types/minhash_type.c types/read.c types/shingles.c types/shingles_type.c types/signature_type.c \
	types/simhash_type.c) test/fuzz/server.c test/fuzz/unreached.c test/fuzz/fuzz_values.c

objects = $(patsubst %.c,$(OUT)/%.o,$(1))
MAIN = $(if $(REPLAY),$(OUT)/test/fuzz/replay.o)
DEPENDENCIES = $(wildcard src/*/*.h src/*/*/*.h test/fuzz/*.h test/unit/*.h) test/fuzz/targets.mk

all: $(TARGETS:%=$(PROGRAMS)%)

$(OUT)/%.o: %.c $(DEPENDENCIES)
	@mkdir -p $(@D)
	$(COMPILER) $(CFLAGS) $(SANITIZERS) -Isrc/core -Isrc/extension -Itest/fuzz -Itest/unit $(if $(filter $<,$(TYPES)),$(SERVER_CFLAGS)) -c $< -o $@

ifndef REPLAY
$(OUT)/layers.a: $(call objects,$(LAYERS) test/unit/host.c)
	@rm -f $@
	ar rcs $@ $^
endif

$(PROGRAMS)values: $(call objects,$(TYPES)) $(MAIN) $(OUT)/layers.a
	$(COMPILER) $(SANITIZERS) $^ -o $@ -lxxhash -lutf8proc -lm

$(PROGRAMS)%: $(OUT)/test/fuzz/fuzz_%.o $(MAIN) $(OUT)/layers.a
	$(COMPILER) $(SANITIZERS) $^ -o $@ -lxxhash -lutf8proc -lm

.PHONY: all
.SECONDARY:
