FROM debian:bookworm-slim AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends make
WORKDIR /source
COPY . .
RUN tools/deps build && make -j2 all && make install DESTDIR=/out PREFIX=/usr

FROM debian:bookworm-slim
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends librocksdb7.8 libuv1 libhttp-parser2.9 libssl3 zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --home-dir /data gametable && mkdir /data && chown gametable /data
COPY --from=build /out/ /
USER gametable
VOLUME /data
EXPOSE 8000
# Inside a container the port is reached through the container's network, which decides who may.
ENTRYPOINT ["gametable", "serve", "--data", "/data", "--http", "0.0.0.0:8000", "--trust-network"]
