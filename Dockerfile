# The service on Node's own image. `docker build -t millrace .`
FROM node:26.10.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# No tools of development, no compiler that packages merely allow for; binaries come with the packages.
RUN npm ci --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund
COPY .config/prune-packages.ts ./.config/
RUN node .config/prune-packages.ts node_modules

FROM node:26.10.0-bookworm-slim
ENV NODE_ENV=production MILLRACE_HOST=0.0.0.0 MILLRACE_DATA_DIR=/data
WORKDIR /app
RUN install -d -o node -g node /data
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY src ./src
COPY actors ./actors
COPY machines ./machines
COPY storage ./storage
# What is compiled here is not compiled by each start: the folder is not the container's to write.
RUN node src/kernel/cli/compile.js
USER node
VOLUME /data
# The API and the stream; the JSON-RPC and the pubsub of a localnet's node.
EXPOSE 8900 8901 8902 8903
# Degraded health is an answer: the container is well as long as it says how it is.
HEALTHCHECK --interval=10s --timeout=5s --retries=3 --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.MILLRACE_PORT ?? 8900) + '/v1/health').then((answer) => answer.json())"]
ENTRYPOINT ["node", "src/kernel/cli/millrace.js"]
CMD ["serve"]
