# neardup: near-duplicate documents inside PostgreSQL.
#
#   make, make install, make installcheck   as with any PGXS extension
#   make demo      finds near-duplicate texts on this machine
#   make check     runs lint and all tests
#   make unit      runs the unit tests only; make lint the linters only
#   make bench     runs benchmarks
#   make soak      runs faults under load for hours, and compares answers with a model
#   make fuzz      tests damaged pages and hostile values
#   make faults    tests full disks, timeouts and little memory
#   make bare      runs the demo and the checks on machines that lack packages
#   make versions  runs all tests on PostgreSQL 13 to 18 and on other processors
#   make format    formats the C files as .clang-format says
#
# The second group needs no pg_config.  It installs missing packages and works in a
# private copy of PostgreSQL.

EXTENSION = neardup
EXTVERSION := $(shell sed -n 's/^[[:blank:]]*"version": "\(.*\)",*/\1/p' META.json | head -n 1)
SQL_TOPICS = $(sort $(wildcard sql/[0-9][0-9]-*.sql))
SQL_INSTALL = sql/neardup--$(EXTVERSION).sql

MODULE_big = neardup
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c)))
SRC_HEADERS = $(wildcard src/*.h src/*/*.h)
# Upgrade scripts, and the scripts for psql.
DATA = $(filter-out $(SQL_INSTALL),$(wildcard sql/neardup--*--*.sql)) $(wildcard sql/scripts/*.sql)
DATA_built = $(SQL_INSTALL)
# xxHash is a header that is compiled in.
SHLIB_LINK = -lutf8proc
PG_CPPFLAGS = -I$(srcdir)/src

REGRESS = $(sort $(patsubst test/sql/%.sql,%,$(wildcard test/sql/*.sql)))
REGRESS_OPTS = --inputdir=test --load-extension=neardup
ifneq ($(wildcard test/specs/*.spec),)
ISOLATION = $(sort $(patsubst test/specs/%.spec,%,$(wildcard test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test --outputdir=. --load-extension=neardup
endif
EXTRA_CLEAN = $(SQL_INSTALL) .build-flags build

# Targets that work without an installed PostgreSQL.
TOOLS = setup check demo unit lint format bench soak fuzz faults bare versions

ifneq ($(filter-out $(TOOLS),$(or $(MAKECMDGOALS),all)),)
PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
# Debian's client package has pgxs.mk without the headers.
ifneq ($(and $(wildcard $(PGXS)),$(wildcard $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)/postgres.h)),)
# Debian's PostgreSQL 13 lacks pg_isolation_regress.
ifeq ($(wildcard $(dir $(PGXS))../test/isolation/pg_isolation_regress),)
ISOLATION =
endif
include $(PGXS)

# The plain C layers have loops that are worth vectorising.
src/base/%.o src/text/%.o src/compare/%.o src/sketch/%.o src/grouping/%.o src/join/%.o: CFLAGS += -O3
else
$(error $(PG_CONFIG) was not found, or has no server headers. Name one with PG_CONFIG=/path/to/pg_config, or let 'make setup' install what is missing)
endif
else
.PHONY: $(TOOLS)
setup check unit lint format:
	@test/tools/$@
demo bench soak fuzz faults bare versions:
	@test/$@/run
export PG_CONFIG MAKE BENCH
endif

# Objects depend on the headers, the compiler flags and the version of PostgreSQL.
BUILD_FLAGS = $(shell $(PG_CONFIG) --version) $(CC) $(CFLAGS)

.build-flags: FORCE
	@echo '$(BUILD_FLAGS)' | cmp -s - $@ || echo '$(BUILD_FLAGS)' > $@

$(OBJS) $(OBJS:.o=.bc): $(SRC_HEADERS) .build-flags

$(SQL_INSTALL): $(SQL_TOPICS) META.json
	cat $(SQL_TOPICS) > $@

.PHONY: FORCE
FORCE:
