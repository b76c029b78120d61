# The image of `gametable serve`: docs are in README.md, section "Docker".
# tests/wire/docker.test.mjs holds the packages below against what the program links.

FROM debian:bookworm-slim AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates make
WORKDIR /source
COPY . .
RUN tools/deps build web && make -j2 all && make install DESTDIR=/out PREFIX=/usr && strip /out/usr/bin/gametable

FROM debian:bookworm-slim
# The libraries that the program links, and tzdata for boards whose days begin elsewhere.
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends \
      ca-certificates \
      libcurl4 \
      libdeflate0 \
      libhttp-parser2.9 \
      liblua5.1-0 \
      librocksdb7.8 \
      libssl3 \
      libuv1 \
      libzstd1 \
      tzdata \
      zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data gametable \
 && install -d -o gametable -g gametable -m 700 /data
COPY --from=build /out/usr/bin/gametable /usr/bin/gametable
COPY LICENSE /usr/share/doc/gametable/copyright
# Published ports reach a container through its own network, not through its loopback. Listening there
# takes access keys, or --trust-network when the network itself decides who may come in; without
# either the program says so and ends.
ENV GAMETABLE_DATA=/data GAMETABLE_HTTP=0.0.0.0:8000 GAMETABLE_REDIS=0.0.0.0:6380
USER gametable
VOLUME /data
EXPOSE 8000 6380
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["gametable", "health"]
ENTRYPOINT ["gametable"]
CMD ["serve"]
