import { variableOf, type Config } from './config.ts'

type TlsSetting = 'scyllaTls' | `${'scylla' | 'redis'}Tls${'Ca' | 'Certificate' | 'Key' | 'ServerName'}`

type Deployment = Pick<
  Config,
  | 'storage'
  | 'role'
  | 'processes'
  | 'source'
  | 'redisUrl'
  | 'scyllaUsername'
  | 'scyllaPassword'
  | TlsSetting
  | 'allowPrivateWebhooks'
  | 'webhookSecretKey'
  | 'port'
  | 'rpcWsCompatPort'
  | 'rpcUrl'
  | 'archiveRpcUrl'
  | 'rpcNodeRps'
  | 'indexHolder'
>

/**
 * Returns why the processes of a configuration could not work together, in a line that names the setting; null if
 * they can.
 */
export function deploymentRefusal(config: Deployment): string | null {
  const { storage, role, processes, source, redisUrl, scyllaUsername, scyllaPassword } = config
  const { port, rpcWsCompatPort, rpcUrl, archiveRpcUrl, rpcNodeRps } = config
  const nodes = rpcUrl.length + archiveRpcUrl.length
  if (rpcNodeRps.length > nodes) {
    return `MILLRACE_RPC_NODE_RPS has ${rpcNodeRps.length} places, but MILLRACE_RPC_URL and MILLRACE_ARCHIVE_RPC_URL have ${nodes} nodes; give each node at most one place`
  }
  if (rpcWsCompatPort === port) {
    return `MILLRACE_RPC_WS_COMPAT_PORT=${port} is MILLRACE_PORT, which accepts handshakes anyway; set another port, or off`
  }
  if (processes > 1 && storage === 'embedded') {
    return `MILLRACE_PROCESSES=${processes} needs MILLRACE_STORAGE=scylla: only one process can open the embedded store`
  }
  if (processes > 1 && source === 'localnet') {
    return `MILLRACE_PROCESSES=${processes} needs a node: a localnet runs in one process. Set MILLRACE_SOURCE and MILLRACE_RPC_URL, or MILLRACE_PROCESSES=1`
  }
  if (processes > 1 && redisUrl === null && role.length < 3 && role.some((each) => each !== 'gateway')) {
    return `MILLRACE_PROCESSES=${processes} with MILLRACE_ROLE=${role.join(',')} needs MILLRACE_REDIS_URL: without Redis only one process may ingest, and one deliver`
  }
  if (storage === 'embedded' && !(role.includes('ingest') && role.includes('gateway'))) {
    return `MILLRACE_ROLE=${role.join(',')} leaves work to other processes, but only one process can open the embedded store; set MILLRACE_STORAGE=scylla`
  }
  if (storage === 'embedded' && !config.indexHolder) {
    return 'MILLRACE_INDEX_HOLDER=false needs MILLRACE_STORAGE=scylla: no other process can open the embedded store and hold names and rankings'
  }
  if (scyllaUsername !== null && scyllaPassword === null) {
    return 'MILLRACE_SCYLLA_USERNAME is set and MILLRACE_SCYLLA_PASSWORD is not'
  }
  if (scyllaUsername === null && scyllaPassword !== null) {
    return 'MILLRACE_SCYLLA_PASSWORD is set and MILLRACE_SCYLLA_USERNAME is not'
  }
  return tlsRefusal(config)
}

/** Returns why the settings of TLS do not belong together; null if they do. */
function tlsRefusal(config: Deployment): string | null {
  const isOn = { scylla: config.scyllaTls, redis: /^rediss/i.test(config.redisUrl ?? '') }
  const cure = { scylla: 'set MILLRACE_SCYLLA_TLS=true', redis: 'begin MILLRACE_REDIS_URL with rediss' }
  for (const server of ['scylla', 'redis'] as const) {
    const settings = (['Ca', 'Certificate', 'Key', 'ServerName'] as const).map(
      (each) => `${server}Tls${each}` as const
    )
    const [, certificate, key] = settings
    const given = settings.find((each) => config[each] !== null)
    if (given !== undefined && !isOn[server])
      return `${variableOf(given)} is set, but these connections have no TLS; ${cure[server]}`
    if ((config[certificate!] === null) !== (config[key!] === null))
      return `${variableOf(certificate!)} and ${variableOf(key!)} belong together; set both or neither`
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
