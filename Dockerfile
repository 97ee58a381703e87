# syntax=docker/dockerfile:1

FROM node:26-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The optional packages carry Node for machines that have none.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:26-slim AS page
WORKDIR /app
COPY package.json package-lock.json ./
# Here the optional packages are wanted: they hold what the bundler is made of.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY build ./build
COPY src/client ./src/client
COPY web/app ./web/app
RUN node build/build-web-app.ts
COPY src/version.ts ./src/
# The version names the commit; the repository is not sent to the build.
ARG GIT_COMMIT=""
RUN node build/write-version.ts src

FROM node:26-slim
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY src ./src
COPY web/docs ./web/docs
COPY --from=page /app/web/dist ./web/dist
COPY --from=page /app/src/version.txt ./src/

# What is above belongs to root, so the service cannot change its own code. It finds no folder there that it
# may keep compiled code in, and does without.
RUN install --directory --owner=1000 --group=1000 /data
USER 1000:1000

# glibc would hold free memory back for each thread.
ENV MALLOC_ARENA_MAX=2 \
    PLANTSTORE_DATABASE=/data/plantstore.db \
    PLANTSTORE_HOST=0.0.0.0
VOLUME ["/data"]
EXPOSE 8080

# Where it looks follows the settings. Whose certificate it is matters to clients, not here.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --start-interval=1s \
    CMD ["node", "-e", "const { PLANTSTORE_PORT: port = 8080, PLANTSTORE_BASE_URL: base = 'http://a', PLANTSTORE_TLS_CERT: cert, PLANTSTORE_SOCKET: socketPath } = process.env; const path = new URL(base).pathname.replace(/[/]+$/, '') + '/readyz'; require(cert ? 'https' : 'http').get({ host: '127.0.0.1', port, socketPath, path, rejectUnauthorized: false, signal: AbortSignal.timeout(4000) }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]

# SIGTERM reaches Node itself. Other commands: docker run … plantstore token list
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--max-semi-space-size=4", "src/cli/main.ts"]
CMD ["serve"]
