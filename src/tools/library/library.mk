# library.mk: builds the library and the command, without PostgreSQL.
#
#   make lib, install-lib     libneardup and neardup, in build/library, and installed
#
# install-lib takes prefix, libdir and DESTDIR.  The command needs a C++ compiler, simdjson, zlib and libzstd.

VERSION := $(shell sed -n 's/^[[:blank:]]*"version": "\(.*\)",*/\1/p' META.json | head -n 1)
# Releases of one soname read each other's programs.
SOVERSION = 0

OUT = build/library
prefix = /usr/local
bindir = $(prefix)/bin
includedir = $(prefix)/include
libdir = $(prefix)/lib
mandir = $(prefix)/share/man
INSTALL = install
PKG_CONFIG ?= pkg-config
OBJCOPY = objcopy

CFLAGS = -O2 -g
CXXFLAGS = $(CFLAGS)
WARNINGS = -Wall -Wextra -Wdeclaration-after-statement -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
CORE_CFLAGS = -O3
packages = $(shell $(PKG_CONFIG) $(1) 2>/dev/null)
BASE_FLAGS = -fPIC -fvisibility=hidden -pthread -Isrc/core -Isrc/tools -DNEARDUP_VERSION='"$(VERSION)"' $(call packages,--cflags libxxhash libutf8proc)
LIBS = $(or $(call packages,--libs libutf8proc),-lutf8proc) -lm

CORE := $(sort $(wildcard src/core/*/*.c))
CORE_OBJECTS = $(CORE:%.c=$(OUT)/%.o)
OBJECTS = $(CORE_OBJECTS) $(patsubst %.c,$(OUT)/%.o,$(sort $(wildcard src/tools/library/*.c)))
SONAME = libneardup.so.$(SOVERSION)
SHARED = $(OUT)/libneardup.so.$(SOVERSION).$(VERSION)

COMMAND_NEEDS = simdjson zlib libzstd
COMMAND_FLAGS = $(call packages,--cflags $(COMMAND_NEEDS))
COMMAND_LIBS := $(and $(shell command -v $(firstword $(CXX))),$(call packages,--libs $(COMMAND_NEEDS)))
COMMAND_OBJECTS = $(if $(COMMAND_LIBS),$(patsubst %,$(OUT)/%.o,$(basename $(sort $(wildcard src/tools/command/*.c src/tools/command/*.cpp)))))

all: $(SHARED) $(OUT)/libneardup.a $(OUT)/neardup.pc $(if $(COMMAND_OBJECTS),$(OUT)/neardup)
	$(if $(COMMAND_OBJECTS),,@echo "The command neardup was not built: it needs a C++ compiler, simdjson, zlib and zstd (g++, libsimdjson-dev, zlib1g-dev, libzstd-dev).")

$(CORE_OBJECTS): OPTIMISE = $(CORE_CFLAGS)
$(COMMAND_OBJECTS): BASE_FLAGS += $(COMMAND_FLAGS)
$(OUT)/%.o: %.c META.json src/tools/library/library.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(OPTIMISE) $(WARNINGS) -std=gnu11 $(BASE_FLAGS) -MMD -MP -c $< -o $@

# Without exceptions, which C would not catch.
$(OUT)/%.o: %.cpp META.json src/tools/library/library.mk
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(filter-out -Wdeclaration-after-statement,$(WARNINGS)) -std=gnu++17 -fno-exceptions -fno-rtti $(BASE_FLAGS) -MMD -MP -c $< -o $@

# The headers that objects include, which the compiler has written down.
-include $(wildcard $(OBJECTS:.o=.d) $(COMMAND_OBJECTS:.o=.d))

$(SHARED): $(OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -pthread -Wl,-soname,$(SONAME) $^ $(LIBS) -o $@
	ln -sf $(@F) $(OUT)/$(SONAME)
	ln -sf $(SONAME) $(OUT)/libneardup.so

# One object, in which only what neardup.h lists is visible.
$(OUT)/libneardup.a: $(OBJECTS)
	$(LD) -r $^ -o $(OUT)/libneardup.o
	$(OBJCOPY) --localize-hidden $(OUT)/libneardup.o
	@rm -f $@
	$(AR) rcs $@ $(OUT)/libneardup.o

# It depends on prefix and libdir.
$(OUT)/neardup.pc: FORCE
	@mkdir -p $(@D)
	printf '%s\n' 'prefix=$(prefix)' 'libdir=$(libdir)' 'includedir=$(includedir)' '' 'Name: neardup' \
		'Description: near-duplicate texts' 'Version: $(VERSION)' 'Requires.private: libutf8proc' \
		'Libs: -L$${libdir} -lneardup' 'Libs.private: -lm -pthread' 'Cflags: -I$${includedir}' > $@

$(OUT)/neardup: $(COMMAND_OBJECTS) $(OUT)/libneardup.a
	$(CXX) $(CXXFLAGS) $(LDFLAGS) -pthread $^ $(COMMAND_LIBS) $(LIBS) -o $@

# A test's own door to the library, for test/t/055_doors.pl.
$(OUT)/doors: test/library/doors.c $(OUT)/libneardup.a src/tools/library/neardup.h
	$(CC) $(CFLAGS) $(WARNINGS) $(BASE_FLAGS) $< $(OUT)/libneardup.a $(LDFLAGS) $(LIBS) -o $@

install: all
	$(INSTALL) -d $(addprefix "$(DESTDIR)",$(libdir)/pkgconfig $(includedir) $(bindir) $(mandir)/man1)
	$(INSTALL) -m 644 $(SHARED) $(OUT)/libneardup.a "$(DESTDIR)$(libdir)"
	cp -d $(OUT)/$(SONAME) $(OUT)/libneardup.so "$(DESTDIR)$(libdir)"
	$(INSTALL) -m 644 $(OUT)/neardup.pc "$(DESTDIR)$(libdir)/pkgconfig"
	$(INSTALL) -m 644 src/tools/library/neardup.h "$(DESTDIR)$(includedir)"
	$(if $(COMMAND_OBJECTS),$(INSTALL) $(OUT)/neardup "$(DESTDIR)$(bindir)"; $(INSTALL) -m 644 src/tools/command/neardup.1 "$(DESTDIR)$(mandir)/man1")

.PHONY: all install FORCE
