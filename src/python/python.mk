# python.mk: makes the wheel of the Python package, with the library in it.
#
#   make python     build/python/neardup-VERSION-....whl
#
# The library of the wheel has utf8proc in it, if there is a static one.

include src/library/library.mk

PYTHON = $(firstword $(wildcard /usr/bin/python3) python3)
STATIC = $(if $(wildcard $(shell $(CC) -print-file-name=libutf8proc.a)),-Wl$(comma)-Bstatic -lutf8proc -Wl$(comma)-Bdynamic,$(LIBS))
comma = ,

python: build/python/$(SONAME)
	rm -f build/python/*.whl
	$(PYTHON) src/python/wheel.py $(VERSION) $< build/python

build/python/$(SONAME): $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -pthread -s -Wl,-soname,$(SONAME) -Wl,--exclude-libs,ALL $^ $(STATIC) -lm -o $@

.PHONY: python
