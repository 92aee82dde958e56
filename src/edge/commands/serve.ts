import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { unlessAborted } from '../../../actors/supervision/aborted.ts'
import type { FirstKeys } from '../../access/bootstrap.ts'
import type { Config } from '../../kernel/config/config.ts'
import { listRefusal, type Product } from '../../kernel/compose/product.ts'
import { isMemoryTight } from '../../kernel/config/memory-budget.ts'
import { deploymentRefusal, configWarnings } from '../../kernel/config/deployment.ts'
import { StartRefused } from '../../../machines/start-refused.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { returnFreeMemory } from '../../kernel/memory/free-memory.ts'
import { setServingHeap } from '../../kernel/memory/serving-heap.ts'
import { WSOL } from '../../market/cash.ts'
import { mixedDataRefusal, unusableDirectory } from '../../store/data-directory.ts'
import { openAll, type Opened } from '../../store/opening.ts'
import { startService } from '../../service.ts'
import { createLogger, type Logger } from '../../kernel/telemetry/logger.ts'
import { readIdentityFile } from '../../transactions/tpu/identity.ts'
import { version } from '../../version.ts'
import type { Invocation } from '../../kernel/cli/command.ts'
import { urlHost } from '../../kernel/cli/url-host.ts'
import type { ParentLink } from './parent-link.ts'
import { listeningRefusal } from './ports.ts'

/**
 * Runs the service until it is interrupted. Resolves with the exit code. A process with a parent tells it when it listens, is
 * ready or cannot start, and leaves it to say so.
 */
export async function serve(
  { config, configuration, products, stdout, stderr, interrupted: signalled }: Invocation,
  parent: ParentLink | null = null
): Promise<number> {
  const interrupted = parent === null ? signalled : AbortSignal.any([signalled, parent.ended])
  const refuse = (line: string): void => {
    if (parent === null) stderr(`millrace: ${line}`)
    else parent.say({ millrace: 'refused', reason: line })
  }
  const loaded = await products()
  const refusal = await refusalOf(config, loaded)
  if (refusal !== null) {
    refuse(refusal)
    return 2
  }
  const fields = parent === null ? null : { process: parent.number }
  const logger = createLogger(config, configuration.configMask(config), fields)
  if (parent === null) for (const warning of configWarnings(config)) logger.warn(warning)
  const taken =
    (await (parent === null ? listeningRefusal(config) : null)) ?? (await unusableDirectory(config))
  const opened = taken ?? (await openedOrReason(config, logger, interrupted))
  if (typeof opened === 'string') {
    // An interrupt while the service waits, or verifies files after a crash, is not a failure.
    if (interrupted.aborted) return 0
    refuse(opened)
    return 1
  }
  let port = config.port
  let keys: FirstKeys | null = null
  await using service = startService({
    config: { ...config, recordedDir: config.recordedDir === null ? null : resolve(config.recordedDir) },
    products: loaded,
    opened,
    logger,
    version,
    onFirstKeys: (made) => {
      keys = made
      // Printed at once: the keys are stored by now, and cannot be shown again.
      if (made.admin !== null) stdout(`admin key, shown only now:  ${made.admin}`)
      if (made.demo !== null) return stdout(`demo key, shown only now:   ${made.demo}`)
      stdout(
        'no tenant has a key yet; with MILLRACE_ADMIN_KEY set to the admin key, create a tenant and its key:'
      )
      for (const command of ['tenants create acme', 'keys create --tenant acme'])
        stdout(`  npx millrace ${command}`)
    },
    onLocalnet: (rpcUrl) => stdout(`this is a localnet, not mainnet; its node: ${rpcUrl}`),
    onListening: (bound) => {
      port = bound
      setServingHeap(isMemoryTight(config))
      if (parent === null) stdout(`listening on http://${urlHost(config.host)}:${port}`)
      else parent.say({ millrace: 'listening', port })
    },
    ...(parent !== null && { peers: parent })
  })
  const drain = (): void => {
    logger.info('draining; a second signal ends at once')
    void service.drain()
  }
  if (interrupted.aborted) drain()
  interrupted.addEventListener('abort', drain)
  if (await service.ready) {
    parent?.say({ millrace: 'ready' })
    const lines = greeting(keys, config.source, `http://${urlHost(config.host)}:${port}`)
    for (const line of lines) stdout(line)
  }
  const endReturning = isMemoryTight(config) ? returnFreeMemory() : null
  const output = await service.done
  endReturning?.()
  if (output.kind !== 'failed') return 0
  if (output.error instanceof StartRefused) {
    refuse(output.error.message)
    return 1
  }
  logger.fatal({ err: output.error }, `the service failed: ${output.error.message}`)
  return 1
}

/**
 * Opens the store and the connections to peers, or returns the reason for a refusal in one line. Retries servers that
 * do not answer yet. Does not retry an embedded store, because no other process would repair it.
 */
async function openedOrReason(config: Config, logger: Logger, end: AbortSignal): Promise<Opened | string> {
  try {
    return await unlessAborted(openAll(config, logger, end), end)
  } catch (error) {
    if (end.aborted) return 'ended on request'
    if (!(error instanceof ServiceError)) throw error
    const setting = config.storage === 'embedded' ? ` (MILLRACE_DATA_DIR=${config.dataDir})` : ''
    return error.detail + setting
  }
}

/** Returns why the configuration cannot be served, in one line; null if it can. */
async function refusalOf(config: Config, products: readonly Product[]): Promise<string | null> {
  const refusal = deploymentRefusal(config) ?? listRefusal(products, config)
  if (refusal !== null) return refusal
  const identity = await identityRefusal(config)
  if (identity !== null) return identity
  if (!config.role.includes('ingest')) return null
  const mixed = await mixedDataRefusal(config)
  if (mixed !== null) return mixed
  if (config.source === 'rpc' && config.rpcUrl.length === 0)
    return 'MILLRACE_RPC_URL is not set; the rpc source needs it'
  if (config.source === 'yellowstone' && config.yellowstoneUrl === null)
    return 'MILLRACE_YELLOWSTONE_URL is not set; the yellowstone source needs it'
  if (config.source !== 'recorded') return null
  if (config.recordedDir === null) return 'MILLRACE_RECORDED_DIR is not set; a recorded source needs it'
  const found = await stat(config.recordedDir).catch(() => null)
  if (found?.isDirectory() !== true) return `MILLRACE_RECORDED_DIR=${config.recordedDir} is not a folder`
  return null
}

/** Returns a refusal if the keypair file for leaders cannot be used; null otherwise. */
async function identityRefusal({ tpu, tpuIdentity }: Config): Promise<string | null> {
  if (tpu === 'off' || tpuIdentity === null) return null
  return readIdentityFile(tpuIdentity).then(
    () => null,
    (error: unknown) => (error as Error).message
  )
}

/**
 * Returns example requests of a localnet, with a mint that trades in every block. Only the first start knows the demo
 * key; later ones name the place where a key is stored.
 */
function greeting(keys: FirstKeys | null, source: Config['source'], url: string): readonly string[] {
  if (source !== 'localnet') return []
  const key = keys?.demo ?? '$KEY'
  return [
    keys === null
      ? 'to try the API, use a key from the first start or from `npx millrace keys create`:'
      : 'try:',
    `  curl ${url}/v1/health`,
    `  curl -H "X-API-Key: ${key}" ${url}/v1/launches`,
    `  curl -H "X-API-Key: ${key}" '${url}/v1/tokens/${WSOL}/trades?limit=5'`
  ]
}
