import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { FirstKeys } from '../access/bootstrap.ts'
import { inertVariables, readConfig, type Config } from '../config.ts'
import { startService } from '../service.ts'
import { createLogger } from '../telemetry.ts'
import { version } from '../version.ts'
import type { Command } from './command.ts'
import { urlHost } from './url-host.ts'

/** Runs the service until it is told to end. */
export const serve: Command = async ({ args, stdout, stderr, interrupted }) => {
  const reading = readConfig(args)
  if (reading.kind === 'invalid') {
    for (const problem of reading.problems) stderr(`millrace: ${problem}`)
    return 2
  }
  const { config } = reading
  const refusal = await refusalOf(config)
  if (refusal !== null) {
    for (const line of refusal) stderr(`millrace: ${line}`)
    return 2
  }
  const logger = createLogger(config)
  for (const variable of inertVariables(config)) logger.warn(`${variable} has no effect in this version`)
  let port = config.port
  let keys: FirstKeys | null = null
  await using service = startService({
    config: { ...config, recordedDir: resolve(config.recordedDir!) },
    logger,
    version,
    onFirstKeys: (made) => {
      keys = made
      // At once: they are stored, and nobody can show them again.
      if (made.admin !== null) stdout(`admin key, shown only now:  ${made.admin}`)
      stdout(`demo key, shown only now:   ${made.demo}`)
    },
    onListening: (bound) => {
      port = bound
      stdout(`listening on http://${urlHost(config.host)}:${port}`)
    }
  })
  interrupted.addEventListener('abort', () => {
    logger.info('draining; a second signal ends at once')
    void service.drain()
  })
  if (await service.ready) greet(keys, `http://${urlHost(config.host)}:${port}`, stdout)
  const output = await service.done
  if (output.kind !== 'failed') return 0
  logger.fatal({ err: output.error }, `the service failed: ${output.error.message}`)
  return 1
}

/** Why this configuration cannot be served, in lines; null when it can. */
async function refusalOf(config: Config): Promise<readonly string[] | null> {
  if (config.storage !== 'embedded')
    return [`MILLRACE_STORAGE=${config.storage} is not available in this version`]
  if (config.source === 'localnet') {
    return [
      'there is no chain to read: this version has no localnet; it serves recorded mainnet blocks.',
      'point it at a folder of them: npm start -- --source recorded --recorded-dir FOLDER'
    ]
  }
  if (config.source !== 'recorded')
    return [`MILLRACE_SOURCE=${config.source} is not available in this version`]
  if (config.recordedDir === null) return ['MILLRACE_RECORDED_DIR is not set; a recorded source needs it']
  const found = await stat(config.recordedDir).catch(() => null)
  if (found?.isDirectory() !== true) return [`MILLRACE_RECORDED_DIR=${config.recordedDir} is no folder`]
  return null
}

function greet(keys: FirstKeys | null, url: string, stdout: (line: string) => void): void {
  if (keys === null) return
  stdout('try:')
  stdout(`  curl ${url}/v1/health`)
  stdout(`  curl -H 'X-API-Key: ${keys.demo}' ${url}/v1/launches`)
  stdout(
    `  curl -H 'X-API-Key: ${keys.demo}' '${url}/v1/tokens/So11111111111111111111111111111111111111112/trades?limit=5'`
  )
}
