EXTENSION = neardup
VERSION = $(shell sed -n 's/^  "version": "\(.*\)",*/\1/p' META.json)
MODULE_big = neardup
OBJS = $(patsubst %.c,%.o,$(wildcard src/*.c src/*/*.c))
DATA_built = sql/neardup--$(VERSION).sql
SHLIB_LINK = -lxxhash -lutf8proc
PG_CPPFLAGS = -Isrc
PG_CFLAGS = -O2 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers

REGRESS = $(sort $(patsubst test/sql/%.sql,%,$(wildcard test/sql/*.sql)))
REGRESS_OPTS = --inputdir=test --load-extension=neardup
EXTRA_CLEAN = sql/neardup--*.sql

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

sql/neardup--$(VERSION).sql: $(sort $(wildcard sql/[0-9][0-9]-*.sql))
	cat $^ > $@
