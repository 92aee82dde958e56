import { pino, type Logger } from 'pino'
import type { Config } from '../config/config.ts'

export type { Logger }

/** Headers and fields that may carry a key; their values never reach a log line. */
const REDACTED = [
  'req.headers.authorization',
  'req.headers["x-api-key"]',
  'headers.authorization',
  'headers["x-api-key"]',
  'key'
]

/**
 * Creates a structured log on standard error; standard output carries results. `mask` hides URLs and secrets of the
 * configuration in each line, including texts of nodes and drivers. Each line has `fields`.
 */
export function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  mask: (text: string) => string,
  fields: Readonly<Record<string, unknown>> | null = null
): Logger {
  const options = {
    level: config.logLevel,
    base: fields,
    redact: REDACTED,
    hooks: { streamWrite: mask }
  }
  const pretty = config.logFormat === null ? process.stderr.isTTY : config.logFormat === 'pretty'
  if (!pretty) return pino(options, pino.destination({ dest: 2, sync: true }))
  const target = 'pino-pretty'
  return pino(options, pino.transport({ target, options: { destination: 2, singleLine: true } }))
}
