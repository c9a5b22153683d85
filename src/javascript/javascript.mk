# javascript.mk: makes the JavaScript module, which has the library as WebAssembly.
#
#   make javascript UTF8PROC=DIRECTORY     build/javascript/neardup.mjs, library.mjs and library.wasm
#
# It needs emscripten, and the sources of utf8proc (apt-get source utf8proc), since Debian has that
# library for its own processors only.  Without threads, a join runs in the caller's.

include src/library/library.mk

JAVASCRIPT = build/javascript
EMCC = emcc
C_SOURCES = $(LAYERS) $(sort $(wildcard src/library/*.c)) $(UTF8PROC)/utf8proc.c
FUNCTIONS = open close message free version signer_new signer_free sign shingles signature_size lexicon_read \
	lexicon_free compare edit_distance print parse pairs clusters
comma = ,
empty =
EXPORTS = _malloc$(comma)_free$(subst $(empty) $(empty),,$(FUNCTIONS:%=$(comma)_neardup_%))

javascript:
	$(if $(UTF8PROC),,$(error Set UTF8PROC to the folder of the sources of utf8proc))
	mkdir -p $(JAVASCRIPT)/include
	cp /usr/include/xxhash.h /usr/include/xxh3.h $(JAVASCRIPT)/include
	$(EMCC) -O3 -std=gnu11 -DXXH_INLINE_ALL -DUTF8PROC_STATIC -DNEARDUP_VERSION='"$(VERSION)"' -Isrc -I$(UTF8PROC) \
		-I$(JAVASCRIPT)/include $(C_SOURCES) -sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT=node,web,worker \
		-sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=1MB -sEXPORTED_FUNCTIONS=$(EXPORTS) \
		-sEXPORTED_RUNTIME_METHODS=HEAPU8 -o $(JAVASCRIPT)/library.mjs
	cp src/javascript/neardup.mjs src/javascript/package.json $(JAVASCRIPT)

.PHONY: javascript
