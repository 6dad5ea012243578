# The service of this folder: slim, not root, and nothing in it is written to.
#
#   docker build -t MODEL .
#   docker run --rm --read-only --cap-drop ALL --security-opt no-new-privileges -p 8080:8080 MODEL
#
# `docker stop` sends SIGTERM, and waits 10 s unless told otherwise: --stop-timeout, or terminationGracePeriodSeconds, have
# to be longer than `drain_s` in service.json.

FROM python:3.11-slim-bookworm AS packages
COPY requirements.txt /requirements.txt
RUN python3 -m venv /opt/service \
    && /opt/service/bin/pip install --no-cache-dir --only-binary :all: --requirement /requirements.txt \
    && /opt/service/bin/pip uninstall --yes pip setuptools

FROM python:3.11-slim-bookworm
COPY --from=packages /opt/service /opt/service
COPY interface.py serve.py service.json MANIFEST.json /srv/
COPY model /srv/model
ENV PYTHONDONTWRITEBYTECODE=1 MALLOC_ARENA_MAX=2 ORT_DISABLE_TELEMETRY=1
USER 10001:10001
WORKDIR /srv
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK CMD ["/opt/service/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/v2/health/ready', timeout=5)"]
ENTRYPOINT ["/opt/service/bin/python", "-E", "-s", "/srv/serve.py", "--host", "0.0.0.0"]
