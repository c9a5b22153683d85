# neardup: near-duplicate documents inside PostgreSQL.
#
#   make, make install, make installcheck   as with any PGXS extension
#   make demo      finds near-duplicate texts on this machine
#   make check     runs lint and all tests; make check-long as many rounds of them as a release needs
#   make unit      runs the unit tests only; make lint the linters only
#   make bench     runs benchmarks
#   make bench-peers   runs neardup beside its alternatives; make bench-quick on a small table
#   make bench-large   runs the benchmarks of the sizes that take longer, for hours
#   make bench-report  makes the tables and plots of doc/benchmarks.md from the newest results
#   make soak      runs faults under load for hours, and compares answers with a model
#   make fuzz      tests damaged pages and hostile values
#   make faults    tests full disks, timeouts and little memory
#   make clients   runs the examples for Python, JavaScript, Java and Go
#   make bare      runs the demo and the checks on machines that lack packages
#   make versions  runs all tests on PostgreSQL 13 to 18 and on other processors
#   make packages  builds the Debian package and the Docker image's content, and installs them
#   make format    formats the C files as .clang-format says
#   make dist      makes the archive of a release, as PGXN takes it, from the last commit
#
# The second group needs no pg_config.  It installs missing packages and works in a
# private copy of PostgreSQL.

EXTENSION = neardup

# The folder of the sources.  It is not "." if the build is elsewhere, as that of a Debian package:
# make -f /path/to/neardup/Makefile.
SOURCE := $(patsubst %/,%,$(or $(VPATH),$(dir $(firstword $(MAKEFILE_LIST)))))
sources = $(sort $(patsubst $(SOURCE)/%,%,$(wildcard $(addprefix $(SOURCE)/,$(1)))))

EXTVERSION := $(shell sed -n 's/^[[:blank:]]*"version": "\(.*\)",*/\1/p' $(SOURCE)/META.json | head -n 1)
SQL_TOPICS = $(call sources,sql/[0-9][0-9]-*.sql)
SQL_INSTALL = sql/neardup--$(EXTVERSION).sql

MODULE_big = neardup
OBJS = $(patsubst %.c,%.o,$(call sources,src/*.c src/*/*.c))
SRC_HEADERS = $(call sources,src/*.h src/*/*.h)
# Upgrade scripts, and the scripts for psql.
DATA = $(filter-out $(SQL_INSTALL),$(call sources,sql/neardup--*--*.sql)) $(call sources,sql/scripts/*.sql)
DATA_built = $(SQL_INSTALL)
# The documents keep their folders, since they link to each other.
DOCUMENTS = README.md CHANGELOG.md LICENSE $(call sources,doc/*.md doc/*/*.md doc/*/*/*.md doc/pictures/*.svg)

# xxHash is a header that is compiled in.
PKG_CONFIG ?= pkg-config
PG_CPPFLAGS = -I$(srcdir)/src $(shell $(PKG_CONFIG) --cflags libxxhash libutf8proc 2>/dev/null)
SHLIB_LINK = $(or $(shell $(PKG_CONFIG) --libs libutf8proc 2>/dev/null),-lutf8proc)

REGRESS = $(patsubst test/sql/%.sql,%,$(call sources,test/sql/*.sql))
REGRESS_OPTS = --inputdir=$(srcdir)/test --load-extension=neardup
ISOLATION = $(patsubst test/specs/%.spec,%,$(call sources,test/specs/*.spec))
ISOLATION_OPTS = --inputdir=$(srcdir)/test --outputdir=. --load-extension=neardup
EXTRA_CLEAN = $(SQL_INSTALL) .build-flags build

DIST = neardup-$(EXTVERSION).zip

# Targets that work without an installed PostgreSQL.
TOOLS = setup check check-long demo unit lint format bench bench-peers bench-quick bench-large bench-report soak fuzz faults clients bare versions packages \
	dist

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
# In another folder than that of the sources.
$(shell mkdir -p sql $(dir $(OBJS)))

# The plain C layers have loops that are worth vectorising.
src/base/%.o src/text/%.o src/compare/%.o src/sketch/%.o src/grouping/%.o src/join/%.o: CFLAGS += -O3
else
$(error $(PG_CONFIG) was not found, or has no server headers. Name one with PG_CONFIG=/path/to/pg_config, or let 'make setup' install what is missing)
endif
else
.PHONY: $(TOOLS)
setup check unit lint format:
	@test/tools/$@
check-long:
	@NEARDUP_LONG=yes test/tools/check
demo bench soak fuzz faults clients bare versions packages:
	@test/$@/run
bench-peers:
	@BENCH=peers test/bench/run
bench-quick:
	@BENCH='peers libraries' NEARDUP_BENCH_QUICK=yes test/bench/run
# The large table of 100,000,000 rows needs 30 GB of disk.  NEARDUP_BENCH_ROWS has other numbers of its rows.
bench-large:
	@for rows in 100000 300000 1000000; do \
		BENCH=peers NEARDUP_BENCH_ROWS=$$rows NEARDUP_BENCH_PARTS= test/bench/run || exit; \
	done
	@BENCH="libraries papers accuracy plots" env -u NEARDUP_BENCH_ROWS -u NEARDUP_BENCH_PARTS test/bench/run
	@BENCH=large NEARDUP_BENCH_PARTS="size times memory sessions cold shares nearest" NEARDUP_BENCH_SHARES="1 0.75 0.5 0.25" \
		NEARDUP_BENCH_BUFFERS=$${NEARDUP_BENCH_BUFFERS:-16GB} \
		NEARDUP_BENCH_ROWS="$${NEARDUP_BENCH_ROWS:-100000 300000 1000000 3000000 10000000 30000000 100000000}" test/bench/run
bench-report:
	@test/bench/report
dist:
	git -C $(SOURCE) archive --format=zip --prefix=neardup-$(EXTVERSION)/ HEAD >$(DIST)
export PG_CONFIG MAKE BENCH
endif

# Objects depend on the headers, the compiler flags and the version of PostgreSQL.
BUILD_FLAGS = $(shell $(PG_CONFIG) --version) $(CC) $(CFLAGS)

.build-flags: FORCE
	@echo '$(BUILD_FLAGS)' | cmp -s - $@ || echo '$(BUILD_FLAGS)' > $@

$(OBJS) $(OBJS:.o=.bc): $(SRC_HEADERS) .build-flags

$(SQL_INSTALL): $(SQL_TOPICS) META.json
	cat $(addprefix $(SOURCE)/,$(SQL_TOPICS)) > $@

# pg_regress looks for the expected output in the folder of the build.
ifneq ($(SOURCE),.)
installcheck: expected
expected: FORCE
	rm -rf $@
	cp -R $(SOURCE)/$@ $@
endif

install: install-documents
uninstall: uninstall-documents
install-documents:
	for file in $(DOCUMENTS); do \
		$(MKDIR_P) "$(DESTDIR)$(docdir)/extension/neardup/$$(dirname $$file)" && \
		$(INSTALL_DATA) $(SOURCE)/$$file "$(DESTDIR)$(docdir)/extension/neardup/$$file" || exit; \
	done
uninstall-documents:
	rm -rf "$(DESTDIR)$(docdir)/extension/neardup"

.PHONY: FORCE install-documents uninstall-documents
FORCE:
