import { startMeasured, type MeasuredProcess } from './measured-process.ts'

/** The admin key of a started service. */
export const ADMIN_KEY = 'an-admin-key-of-the-loadtest'
export const HEADERS = { 'x-api-key': ADMIN_KEY }
/** Requests, and units of work, a minute that no load test reaches. */
export const NO_LIMIT = 1_000_000_000
/** Settings of a service whose keys have no limit. */
export const WITHOUT_LIMITS = {
  MILLRACE_RATE_LIMIT_PER_MINUTE: String(NO_LIMIT),
  MILLRACE_WORK_PER_MINUTE: String(1_000 * NO_LIMIT)
} as const

/** Settings of every measured service. It listens on a free port. */
export const SETTINGS = {
  MILLRACE_ADMIN_KEY: ADMIN_KEY,
  MILLRACE_LOG_LEVEL: 'warn',
  MILLRACE_PORT: '0'
} as const

/** Starts the service as a user does, on a data directory. Flags and `env` override the settings above. */
export function startService(
  dataDir: string,
  flags: readonly string[],
  { env = {}, nodeArgs = [] }: Parameters<typeof startMeasured>[2] = {}
): Promise<MeasuredProcess> {
  return startMeasured('../src/kernel/cli/millrace.js', ['serve', '--data-dir', dataDir, ...flags], {
    env: { ...SETTINGS, ...env },
    nodeArgs
  })
}
