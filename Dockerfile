# One service with embedded stores: docker build -t stenolog . && docker run -p 8080:8080 -v stenolog:/data stenolog
# As strict as docker-compose.yml: --cap-drop ALL --security-opt no-new-privileges:true --read-only --tmpfs /tmp
FROM node:24-bookworm-slim

# Process 1 of a container must wait for processes whose parent died, for instance for killed decoders. Node does not.
RUN apt-get update && apt-get install --yes --no-install-recommends tini && rm -rf /var/lib/apt/lists/*

WORKDIR /app
ENV NODE_ENV=production
# Packages change less often than the code, so they are an earlier layer.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force
COPY LICENSE ./
COPY models ./models
COPY domain ./domain
COPY application ./application
COPY projections ./projections
COPY infrastructure ./infrastructure
COPY interfaces ./interfaces

RUN install -d -o node -g node -m 700 /data
USER node
VOLUME /data
ENV STENOLOG_HOST=0.0.0.0 STENOLOG_PORT=8080 STENOLOG_DATA_DIR=/data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# tini passes signals on to the service, which drains on SIGTERM.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "--disable-warning=ExperimentalWarning", "interfaces/main.ts"]
