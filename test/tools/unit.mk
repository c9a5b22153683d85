# unit.mk: builds programs with the plain C layers, without a server.
#
#   make -f test/tools/unit.mk KIND=...                       tests: build/KIND/test/unit/test_*; and benchmarks
#   make -f test/tools/unit.mk build/plain/test/bench/kernels   a benchmark
#
# KIND is plain, sanitize, or a processor to compile for, which CROSS then names too.

KIND = plain
OUT = build/$(KIND)
CC = $(if $(CROSS),$(CROSS)-linux-gnu-)gcc
WARNINGS = -Wall -Wextra -Werror -Wdeclaration-after-statement -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
# As the extension compiles these layers.
CFLAGS = -O3 -g
ifeq ($(KIND),sanitize)
CFLAGS += -O1 -g1 -fno-omit-frame-pointer -fsanitize=undefined,address -fno-sanitize-recover=all
endif
# qemu does not find the libraries of another processor.
LDFLAGS = $(if $(CROSS),-static)

SOURCES = $(sort $(wildcard src/core/*/*.c))
HEADERS = $(wildcard src/core/*/*.h src/tools/*/*.h test/unit/*.h test/bench/*.h)
LAYERS = $(SOURCES:%.c=$(OUT)/%.o) $(OUT)/test/unit/host.o
LIBRARY = $(OUT)/layers.a
PROGRAMS = $(patsubst %.c,$(OUT)/%,$(wildcard test/unit/test_*.c test/library/test_*.c))
# These need only compile.  limit.c includes no header of a layer.
BENCHMARKS = $(patsubst %.c,$(OUT)/%.o,$(filter-out %/limit.c,$(wildcard test/bench/*.c test/bench/*/*.c)))
# The library has a host of its own.
LIBNEARDUP = $(patsubst %.c,$(OUT)/%.o,$(SOURCES) $(wildcard src/tools/library/*.c))

all: $(PROGRAMS) $(BENCHMARKS)

$(OUT)/%.o: %.c $(HEADERS) test/tools/unit.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARNINGS) -Isrc/core -Isrc/tools -Itest/unit -DNEARDUP_VERSION='""' -c $< -o $@

# A library, so that a program has only the layers that it uses.
$(LIBRARY): $(LAYERS)
	@rm -f $@
	ar rcs $@ $^

$(patsubst %.c,$(OUT)/%,$(wildcard test/library/test_*.c)): $(OUT)/%: $(OUT)/%.o $(LIBNEARDUP)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ -lxxhash -lutf8proc -lm -pthread

$(OUT)/test/%: $(OUT)/test/%.o $(LIBRARY)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ -lxxhash -lutf8proc -lm

.PHONY: all
.SECONDARY:
