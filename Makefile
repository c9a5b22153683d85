# neardup: near-duplicate documents inside PostgreSQL.
#
#   make, make install, make installcheck   as with any PGXS extension
#
#   make lib, install-lib             the library libneardup and the command neardup: src/tools/library/library.mk
#   make python                       the Python package, in a folder: src/tools/python/python.mk (pip makes the wheel)
#   make javascript UTF8PROC=FOLDER   the JavaScript module, by emscripten: src/tools/javascript/javascript.mk
#   make check, check-long            lint and all tests; as many rounds of them as a release needs
#   make unit, lint, format           only the unit tests; the linters; clang-format
#   make demo                         finds near-duplicate texts on this machine
#   make bench, bench-{peers,quick,large,report}   benchmarks: test/bench/run
#   make soak, fuzz, faults           faults under load for hours; hostile values; full disks
#   make clients, bare, versions, packages, engines, shortcuts   what a release needs as well: test/release
#   make dist                         the archive of a release, as PGXN takes it, from the last commit
#
# All but the first line need no pg_config.  They install missing packages (test/tools/setup),
# and work in a private copy of PostgreSQL.

EXTENSION = neardup neardup_study

# The folder of the sources, which is not "." if the build is elsewhere, as a Debian package's is.
SOURCE := $(patsubst %/,%,$(or $(VPATH),$(dir $(firstword $(MAKEFILE_LIST)))))
sources = $(sort $(patsubst $(SOURCE)/%,%,$(wildcard $(addprefix $(SOURCE)/,$(1)))))

EXTVERSION := $(shell sed -n 's/^[[:blank:]]*"version": "\(.*\)",*/\1/p' $(SOURCE)/META.json | head -n 1)

MODULE_big = neardup
OBJS = $(patsubst %.c,%.o,$(call sources,src/core/*/*.c src/extension/*.c src/extension/*/*.c))
DATA_built = sql/neardup--$(EXTVERSION).sql sql/neardup_study--$(EXTVERSION).sql
DATA = $(call sources,sql/neardup*--*--*.sql sql/scripts/*.sql)
EXTRA_CLEAN = $(DATA_built) .build-flags build $(OBJS:.o=.d)

# xxHash is a header that is compiled in.
PKG_CONFIG ?= pkg-config
PG_CPPFLAGS = -I$(srcdir)/src/core -I$(srcdir)/src/extension $(shell $(PKG_CONFIG) --cflags libxxhash libutf8proc 2>/dev/null)
SHLIB_LINK = $(or $(shell $(PKG_CONFIG) --libs libutf8proc 2>/dev/null),-lutf8proc)

TOOLS = lib install-lib python javascript setup check check-long unit lint format demo soak fuzz faults clients bare versions release engines shortcuts dist \
	bench bench-peers bench-quick bench-large bench-report

ifneq ($(filter-out $(TOOLS),$(or $(MAKECMDGOALS),all)),)
PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
# Debian's client package has pgxs.mk without the headers.
ifeq ($(wildcard $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)/postgres.h),)
$(error $(PG_CONFIG) was not found, or has no server headers. Name one with PG_CONFIG=/path/to/pg_config, or install its headers, as Debian's postgresql-server-dev-15)
endif

REGRESS = $(patsubst test/sql/%.sql,%,$(call sources,test/sql/*.sql))
REGRESS_OPTS = --inputdir=$(srcdir)/test --load-extension=neardup --load-extension=neardup_study
ISOLATION = $(patsubst test/specs/%.spec,%,$(call sources,test/specs/*.spec))
ISOLATION_OPTS = --inputdir=$(srcdir)/test --outputdir=. --load-extension=neardup

include $(PGXS)
$(shell mkdir -p sql $(dir $(OBJS)))

# Plain C has loops that are worth vectorising.
src/core/%.o: CFLAGS += -O3

# Objects depend on the compiler flags, the version of PostgreSQL, and those of our headers that they
# include, which the compiler writes down.  An object and its bitcode include the same ones.
FLAGS_AND_HEADERS = $(subst -I$(includedir_server),-isystem $(includedir_server),$(subst \
	-I$(includedir_internal),-isystem $(includedir_internal),$(CPPFLAGS))) -MMD -MP -MT '$*.o $*.bc' -MF $*.d
%.o: %.c
	$(CC) $(CFLAGS) $(FLAGS_AND_HEADERS) -c -o $@ $<
-include $(wildcard $(OBJS:.o=.d))
BUILD_FLAGS = $(shell $(PG_CONFIG) --version) $(CC) $(CFLAGS) -MMD
$(OBJS) $(OBJS:.o=.bc): .build-flags
.build-flags: FORCE
	@echo '$(BUILD_FLAGS)' | cmp -s - $@ || echo '$(BUILD_FLAGS)' > $@

sql/neardup--$(EXTVERSION).sql: $(call sources,sql/[0-9][0-9]-*.sql)
sql/neardup_study--$(EXTVERSION).sql: $(call sources,sql/study/*.sql)
$(DATA_built): META.json
	cat $(filter %.sql,$^) > $@

# pg_regress looks for the expected output in the folder of the build.
ifneq ($(SOURCE),.)
installcheck: expected
expected: FORCE
	rm -rf $@
	cp -R $(SOURCE)/$@ $@
endif

# The documents keep their folders, since they link to each other.
DOCUMENTS = README.md CHANGELOG.md LICENSE $(call sources,doc/*.md doc/*/*.md doc/*/*/*.md doc/*/*.txt doc/pictures/*.svg)
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

else
export PG_CONFIG MAKE BENCH
.PHONY: $(TOOLS)
$(filter-out lib install-lib python javascript check-long dist bench-%,$(TOOLS)):
	@$(wildcard test/tools/$@ test/$@/run test/release/$@)
lib install-lib:
	@$(MAKE) -C $(SOURCE) --no-print-directory -f src/tools/library/library.mk $(if $(filter install-lib,$@),install,all)
python javascript:
	@$(MAKE) -C $(SOURCE) --no-print-directory -f src/tools/$@/$@.mk $@
check-long:
	@NEARDUP_LONG=yes test/tools/check
$(filter bench-%,$(TOOLS)): bench-%:
	@test/bench/run $*
dist:
	git -C $(SOURCE) archive --format=zip --prefix=neardup-$(EXTVERSION)/ HEAD >neardup-$(EXTVERSION).zip
endif
