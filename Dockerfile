# straggler in an image with nothing else in it, which runs as a user who is not root:
#
#   docker build -t straggler .
#   docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" straggler report eventlog.zstd -o report.html
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN release/build /dist "$(go env GOARCH)"
RUN mkdir /program && tar xzf /dist/straggler_*.tar.gz --strip-components=1 -C /program
RUN release/image /program/straggler /image

FROM scratch
COPY --from=build /image /
ENV HOME=/home/straggler
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/usr/bin/straggler"]
