# python.mk: puts the Python package and the library into a folder.  pip makes the wheel: pyproject.toml.
#
#   make python     build/python/neardup

include src/tools/library/library.mk

python: $(SHARED)
	rm -rf build/python
	mkdir -p build/python
	cp -R src/tools/python/neardup build/python
	cp -L $(OUT)/$(SONAME) build/python/neardup

.PHONY: python
