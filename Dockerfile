# The action's image. What changes seldom comes first: a change of the source is one layer, in seconds.
#   docker build -t model-accuracy-eval .
# The base is one index of images for all architectures, named by its digest, which Dependabot moves. Where no registry has it
# (behind a mirror, without a network), name another: sed '/^FROM python/s|python:[^ ]*|MIRROR/python:3.11-slim-bookworm|' \
#   Dockerfile | docker build -t model-accuracy-eval -f - .
FROM python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b AS base

FROM base AS packages

RUN apt-get update && apt-get install --yes --no-install-recommends binutils

WORKDIR /opt/model-accuracy-eval

# Exactly what was tested, or nothing: every file is checked against its hash. langdetect comes as source alone, and is built
# with the base image's setuptools.
COPY requirements-image.lock ./
RUN python3 -m venv --without-pip .venv \
    && export PYTHONPATH="$(python3 -c 'import pathlib, setuptools; print(pathlib.Path(setuptools.__file__).parents[1])')" \
    && python3 -m pip --python .venv/bin/python install --no-cache-dir --disable-pip-version-check \
        --no-deps --require-hashes --only-binary :all: --no-binary langdetect --no-build-isolation -r requirements-image.lock

# A fifth of all is nothing that runs: tests, symbols for debuggers, all languages of Punkt but English, all of lxml but its
# etree, and the bytecode of what few runs import.
RUN cd .venv/lib/python3.11/site-packages \
    && find numpy nltk joblib -type d \( -name test -o -name tests \) -prune -exec rm -rf {} + \
    && find uvloop yaml -name '*.so' -exec strip --strip-unneeded {} + \
    && rm -rf lxml/objectify* lxml/html lxml/includes lxml/isoschematron \
    && find punkt/data -name '*.py' ! -name __init__.py ! -name english.py ! -name curated.py ! -name prefixes.py -delete \
    && find pygments nltk punkt langdetect joblib -type d -name __pycache__ -exec rm -rf {} + \
    && echo /opt/model-accuracy-eval/src > model_accuracy_eval.pth

FROM base

LABEL org.opencontainers.image.title="model-accuracy-eval" \
      org.opencontainers.image.description="Tells, inside CI, whether a model adapter's inference is as accurate as it should be." \
      org.opencontainers.image.licenses="Apache-2.0"

WORKDIR /opt/model-accuracy-eval

# Git clones, fetches and updates submodules without Perl, which would be a quarter of our layers. The shell
# that is linked statically is the first program: see docker/entrypoint.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bash-static git git-lfs \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /usr/share/doc /usr/share/man /usr/share/locale \
        /usr/share/perl /usr/lib/*-linux-gnu/perl /usr/lib/*-linux-gnu/libperl.so*

COPY --from=packages /opt/model-accuracy-eval ./

COPY docker/entrypoint /usr/local/bin/model-accuracy-eval
RUN ln -s model-accuracy-eval /usr/local/bin/model-accuracy-eval-sweep

COPY example-adapter example-adapter
COPY src src
RUN .venv/bin/python -m compileall -q src example-adapter

# The runner starts it as root, or it could not write to the workspace; where it starts is the runner's `--workdir`.
WORKDIR /github/workspace
ENTRYPOINT ["model-accuracy-eval"]
