# unit.mk: the plain C layers, linked without a server.
#
#   make -f test/tools/unit.mk [SANITIZE=1]          tests: build/unit/test_*
#   make -f test/tools/unit.mk build/bench/kernels   a benchmark

KIND = $(if $(SANITIZE),sanitize,plain)
OUT = build/$(KIND)
CC ?= gcc
WARNINGS = -Wall -Wextra -Werror -Wdeclaration-after-statement -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
CFLAGS = -O2 -g $(if $(SANITIZE),-O1 -fno-omit-frame-pointer -fsanitize=undefined$(comma)address -fno-sanitize-recover=all)
comma = ,

SOURCES = $(foreach c,$(sort $(wildcard src/text/*.c src/sketch/*.c src/match/*.c src/compare/*.c)),$(if $(filter pg_%,$(notdir $(c))),,$(c)))
HEADERS = $(wildcard src/*.h src/*/*.h test/unit/*.h)
LAYERS = $(SOURCES:%.c=$(OUT)/%.o) $(OUT)/test/unit/host.o
LIBRARY = $(OUT)/layers.a
PROGRAMS = $(patsubst %.c,$(OUT)/%,$(wildcard test/unit/test_*.c))

all: $(PROGRAMS)

$(OUT)/%.o: %.c $(HEADERS) test/tools/unit.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARNINGS) -Isrc -Itest/unit -c $< -o $@

# A library, so that a program holds only the layers that it uses.
$(LIBRARY): $(LAYERS)
	@rm -f $@
	ar rcs $@ $^

$(OUT)/test/%: $(OUT)/test/%.o $(LIBRARY)
	$(CC) $(CFLAGS) $^ -o $@ -lxxhash -lutf8proc -lm

.PHONY: all
.SECONDARY:
