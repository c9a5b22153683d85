# PostgreSQL with neardup, on the official image (Debian).
#
#   docker build -t neardup .
#   docker build -t neardup --build-arg PG_MAJOR=15 .
#
# 'make packages' runs the RUN lines in a Debian system of its own.

ARG PG_MAJOR=17

FROM postgres:$PG_MAJOR-bookworm AS build
ARG PG_MAJOR
RUN apt-get update && \
	apt-get install -y --no-install-recommends gcc make libc6-dev pkg-config libxxhash-dev libutf8proc-dev \
		postgresql-server-dev-$PG_MAJOR
COPY . /neardup
WORKDIR /neardup
RUN make with_llvm=no PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config && \
	make with_llvm=no PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config DESTDIR=/image install

FROM postgres:$PG_MAJOR-bookworm
RUN apt-get update && \
	apt-get install -y --no-install-recommends libutf8proc2 && \
	rm -rf /var/lib/apt/lists/*
COPY --from=build /image/ /
