# javascript.mk: makes the JavaScript module, which has the library as WebAssembly.
#
#   make javascript UTF8PROC=FOLDER     build/javascript: a package of npm
#
# It needs emscripten, and the sources of utf8proc (apt-get source utf8proc), since Debian has that
# library for its own processors only.  A join runs in the caller's thread.  Where the
# command can be built, node compares the module with it; and bundlers from npm, if it is there, take it.

include src/tools/library/library.mk

MODULE = build/javascript
EMCC = emcc
# Where Debian has modules that emscripten uses.
export NODE_PATH ?= /usr/share/nodejs
C_SOURCES = $(CORE) $(filter-out src/tools/library/file.c,$(sort $(wildcard src/tools/library/*.c))) src/tools/javascript/no_files.c $(UTF8PROC)/utf8proc.c
EXPORTS = malloc free $(addprefix neardup_,clusters compare defaults edit_distance free message open pairs parse print sign \
	signer_free signer_new)
comma = ,
empty =

javascript: all
	$(if $(UTF8PROC),,$(error Set UTF8PROC to the folder of the sources of utf8proc))
	@mkdir -p $(MODULE)/include
	cp /usr/include/xxhash.h /usr/include/xxh3.h $(MODULE)/include
	$(EMCC) -O3 -std=gnu11 -DUTF8PROC_STATIC -DNEARDUP_VERSION='"$(VERSION)"' -Isrc/core -Isrc/tools -I$(UTF8PROC) -I$(MODULE)/include $(C_SOURCES) \
		-Wno-macro-redefined -sSTANDALONE_WASM --no-entry -sSUPPORT_LONGJMP=wasm -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=1MB \
		-sEXPORTED_FUNCTIONS=$(subst $(empty) $(empty),$(comma),$(EXPORTS:%=_%)) -o $(MODULE)/neardup.wasm
	rm -rf $(MODULE)/include
	cp LICENSE src/tools/python/LICENSE.* src/tools/javascript/*.mjs src/tools/javascript/*.ts src/tools/javascript/README.md $(MODULE)
	sed 's/VERSION/$(VERSION)/' src/tools/javascript/package.json >$(MODULE)/package.json
	$(if $(COMMAND_OBJECTS),node test/library/test_javascript.mjs $(MODULE) $(OUT)/neardup)
	$(if $(shell command -v npm),node test/library/test_bundlers.mjs $(MODULE),@echo "skipped: npm is missing, so no bundler takes the module")

.PHONY: javascript
