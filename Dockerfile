# PostgreSQL with neardup, on the official image (Debian).
#
#   docker build -t neardup .
#   docker build -t neardup --build-arg PG_MAJOR=15 .
#
# Only neardup, in an image that CloudNativePG mounts beside PostgreSQL 18:
#
#   docker build -t neardup-volume --target volume --build-arg PG_MAJOR=18 .
#
# 'make release' runs the RUN and COPY lines in a Debian system of its own.

ARG PG_MAJOR=17
ARG DEBIAN=bookworm

# utf8proc is linked in, since a volume cannot bring packages along.
FROM postgres:$PG_MAJOR-$DEBIAN AS build
ARG PG_MAJOR
RUN apt-get update && \
	apt-get install -y --no-install-recommends gcc make libc6-dev pkg-config libxxhash-dev libutf8proc-dev \
		postgresql-server-dev-$PG_MAJOR
COPY . /neardup
WORKDIR /neardup
RUN make with_llvm=no PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config DESTDIR=/image \
		SHLIB_LINK="-l:libutf8proc.a -Wl,--exclude-libs,ALL" install && \
	strip --strip-unneeded /image/usr/lib/postgresql/$PG_MAJOR/lib/neardup.so && \
	mkdir /image/licenses && \
	cp LICENSE /image/licenses/neardup && \
	cp /usr/share/doc/libutf8proc-dev/copyright /image/licenses/utf8proc && \
	cp /usr/share/doc/libxxhash-dev/copyright /image/licenses/xxhash

FROM scratch AS volume
ARG PG_MAJOR
COPY --from=build /image/usr/lib/postgresql/$PG_MAJOR/lib/ /lib/
COPY --from=build /image/usr/share/postgresql/$PG_MAJOR/extension/ /share/extension/
COPY --from=build /image/licenses/ /licenses/

FROM postgres:$PG_MAJOR-$DEBIAN
COPY --from=build /image/ /
