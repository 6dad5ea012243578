# Three images from one file; every package comes from requirements/*.lock, by scripts/install.
#
#   docker build -t exporter .                              everything, on a CPU
#   docker build -t exporter:gpu --build-arg DEVICE=gpu .   everything, on a GPU (CUDA 12.6)
#   docker build -t exporter:runtime --target runtime .     checks and runs bundles on a CPU; cannot train or convert
#
#   docker run --rm -v "$PWD:/work" -u "$(id -u):$(id -g)" exporter release specs/digits.yaml
#
# State of this file, 2026-11-22: hadolint passes. `scripts/image --stand-in runtime` and `… full` built the images by buildah
# (chroot isolation) on bases made of Debian's packages: 1.35 GB, and 1.77 GB with Paddle by pip. `tests/test_images.py` (slow)
# builds them and runs them as uid 10001: the full one releases the digits, the runtime one verifies that and a stored
# bundle. The GPU image was never built, nor any on the official images: that those have Python 3.10 with pip was read in
# Paddle's own tools/dockerfile/Dockerfile.release.ubuntu20, not seen.

ARG DEVICE=cpu

# ------------------------------------------------------------------------------------ runtime: engines, nothing to train
FROM python:3.11-slim-bookworm AS runtime-build
ENV PIP_NO_CACHE_DIR=1
WORKDIR /opt/source
COPY . .
# The command line finds its verbs by their files, so a verb is taken away by taking its file away. Nothing else goes:
# `verify` asks the code beside training for a metric (`max_metric_loss`).
RUN scripts/install --runtime --no-editable --venv /opt/exporter \
    && verbs=/opt/exporter/lib/python3.11/site-packages/exporter/cli/kinds \
    && rm "$verbs/train.py" "$verbs/prune.py" "$verbs/convert.py" "$verbs/release.py" "$verbs/gate.py" \
        "$verbs/compare_modes.py"

FROM python:3.11-slim-bookworm AS runtime
# hadolint ignore=DL3008 # the version is whatever Debian's security team last published for this release
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 exporter
COPY --from=runtime-build /opt/exporter /opt/exporter
ENV PATH=/opt/exporter/bin:$PATH
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["exporter"]
CMD ["--help"]

# ------------------------------------------------------------------------------------------ full: everything, CPU or GPU
FROM paddlepaddle/paddle:3.3.1 AS paddle-cpu
ENV GPU=""

# The newest GPU image is of Paddle 3.3.0; its Paddle is used as it is, the lock gives the rest.
FROM paddlepaddle/paddle:3.3.0-gpu-cuda12.6-cudnn9.5 AS paddle-gpu
ENV GPU=provided

# hadolint ignore=DL3006 # one of the two above, each with its tag
FROM paddle-${DEVICE} AS full
ENV PIP_NO_CACHE_DIR=1
WORKDIR /opt/source
COPY . .
# The environment sees the image's packages: Paddle is taken from there, and nothing of the image is overwritten.
# Then the compilers go, for nothing here needs one and an intruder might. That frees no space (they stay in the layers
# below) and takes only what lies in a bin/ or drives a compiler: the images need libstdc++ beside their gcc.
RUN scripts/install --no-editable --system-site-packages --venv /opt/exporter ${GPU:+--gpu "$GPU"} \
    && rm -r /opt/source/* \
    && find / -xdev \( -type f -o -type l \) -regextype posix-extended \( \
        -regex '.*/bin/([a-z0-9_]+-linux-gnu-)?(cc|c\+\+|c89|c99|c[89]9-gcc|cpp|gcc|g\+\+|gfortran|clang|clang\+\+|nvcc|cicc|ptxas|go|gofmt|as|ld)(-[0-9.]+)?' \
        -o -regex '.*/(cc1|cc1plus|collect2|lto1|lto-wrapper|cicc|cudafe\+\+)' \) -delete \
    && for tool in cc c++ gcc g++ clang nvcc go; do \
        if command -v "$tool"; then echo "a compiler is left in the image: $tool" >&2; exit 1; fi; \
    done \
    && useradd --create-home --uid 10001 exporter
ENV PATH=/opt/exporter/bin:$PATH
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["exporter"]
CMD ["--help"]
