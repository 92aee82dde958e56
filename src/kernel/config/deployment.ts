import type { Config } from './config.ts'

type Deployment = Pick<
  Config,
  | 'storage'
  | 'role'
  | 'redisUrl'
  | 'scyllaUsername'
  | 'scyllaPassword'
  | 'allowPrivateWebhooks'
  | 'webhookSecretKey'
  | 'port'
  | 'rpcWsCompatPort'
  | 'rpcUrl'
  | 'archiveRpcUrl'
  | 'rpcNodeRps'
>

/**
 * Returns why the processes of a configuration could not work together, in a line that names the setting; null if
 * they can.
 */
export function deploymentRefusal({
  storage,
  role,
  scyllaUsername,
  scyllaPassword,
  port,
  rpcWsCompatPort,
  rpcUrl,
  archiveRpcUrl,
  rpcNodeRps
}: Deployment): string | null {
  const nodes = rpcUrl.length + archiveRpcUrl.length
  if (rpcNodeRps.length > nodes) {
    return `MILLRACE_RPC_NODE_RPS has ${rpcNodeRps.length} places, but MILLRACE_RPC_URL and MILLRACE_ARCHIVE_RPC_URL have ${nodes} nodes; give each node at most one place`
  }
  if (rpcWsCompatPort === port) {
    return `MILLRACE_RPC_WS_COMPAT_PORT=${port} is MILLRACE_PORT, which accepts handshakes anyway; set another port, or off`
  }
  if (storage === 'embedded' && !(role.includes('ingest') && role.includes('gateway'))) {
    return `MILLRACE_ROLE=${role.join(',')} leaves work to other processes, but only one process can open the embedded store; set MILLRACE_STORAGE=scylla`
  }
  if (scyllaUsername !== null && scyllaPassword === null) {
    return 'MILLRACE_SCYLLA_USERNAME is set and MILLRACE_SCYLLA_PASSWORD is not'
  }
  if (scyllaUsername === null && scyllaPassword !== null) {
    return 'MILLRACE_SCYLLA_PASSWORD is set and MILLRACE_SCYLLA_USERNAME is not'
  }
  return null
}

/** Returns the drawbacks of a valid configuration, a line each. */
export function configWarnings({
  storage,
  role,
  redisUrl,
  allowPrivateWebhooks,
  webhookSecretKey
}: Deployment): string[] {
  const isApart = !(role.includes('ingest') && role.includes('gateway'))
  const warnings: string[] = []
  if (storage === 'embedded' && !role.includes('delivery')) {
    warnings.push(`MILLRACE_ROLE=${role.join(',')} does not name delivery: webhooks get no events`)
  }
  if (storage === 'embedded' && redisUrl !== null) {
    warnings.push('MILLRACE_REDIS_URL has no effect with the embedded store, which only one process can open')
  }
  if (storage === 'scylla' && redisUrl === null && isApart) {
    warnings.push(
      'without MILLRACE_REDIS_URL each process counts calls separately; only one may have the role ingest, and one the role delivery. Set it if you run several processes'
    )
  }
  if (allowPrivateWebhooks) {
    warnings.push(
      'MILLRACE_ALLOW_PRIVATE_WEBHOOKS is on: any tenant can make this machine send POSTs to loopback and to private networks; use it for development only'
    )
  }
  if (storage === 'scylla' && webhookSecretKey === null && role.some((each) => each !== 'ingest')) {
    warnings.push(
      'MILLRACE_WEBHOOK_SECRET_KEY is not set: this process encrypts webhook secrets with a key in its MILLRACE_DATA_DIR. Processes with another data folder do not have that key; set the same key for all processes'
    )
  }
  return warnings
}
