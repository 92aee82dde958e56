import { join } from 'node:path'
import { fixturesDirectory } from './fixtures.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'

const KEY = 'an-admin-key-of-the-loadtest'
export const HEADERS = { 'x-api-key': KEY }
/** Milliseconds that a paused service gets to store the block in progress. */
const SETTLE_MS = 1000

export interface Head {
  readonly slot: number
}

/** The service on a data directory, with a way to stop further blocks. */
export interface Served extends MeasuredProcess {
  readonly firstHead: Head
  /** Stops further blocks and resolves with the head once it no longer changes. */
  pause(): Promise<Head>
}

/**
 * Starts the service: `quiet` as a user does, on a folder without blocks, or `live`, with blocks of the market in
 * `marketDirectory`.
 */
export async function serveMarket(
  dataDir: string,
  mode: 'quiet' | 'live',
  marketDirectory = '',
  nodeArgs: readonly string[] = []
): Promise<Served> {
  const flags = [
    '--data-dir',
    dataDir,
    '--port',
    '0',
    '--source',
    'recorded',
    '--recorded-dir',
    join(dataDir, 'nothing')
  ]
  const env = {
    MILLRACE_ADMIN_KEY: KEY,
    MILLRACE_LOG_LEVEL: 'warn',
    MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000000',
    MILLRACE_WORK_PER_MINUTE: '1000000000000'
  }
  const started =
    mode === 'quiet'
      ? await startMeasured('../src/kernel/cli/millrace.js', ['serve', ...flags], { env, nodeArgs })
      : await startMeasured('live-service.ts', [marketDirectory, ...flags], {
          env: { ...env, FIXTURES_DIR: fixturesDirectory() },
          nodeArgs
        })
  const firstHead = await headOf(started)
  return {
    ...started,
    firstHead,
    async pause() {
      started.send('pause')
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
      return headOf(started)
    }
  }
}

/** Milliseconds since the spawn of a process. */
export interface StartUp {
  /** Until the first complete answer of the data API. */
  readonly first_answer_ms: number
  /** Until the first answer that needs the ranking of the last day, which is read in the background. */
  readonly ranking_ms: number
}

/** Starts the service three times and requests a path from each. */
export async function startUp(dataDir: string, path: string): Promise<StartUp[]> {
  const starts: StartUp[] = []
  for (let i = 0; i < 3; i++) {
    const started = performance.now()
    const service = await serveMarket(dataDir, 'quiet')
    const response = await fetch(service.url + path, { headers: HEADERS })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}`)
    const answered = performance.now()
    await ranked(service)
    const span = (to: number): number => Math.round(to - started)
    starts.push({ first_answer_ms: span(answered), ranking_ms: span(performance.now()) })
    await service.end()
  }
  return starts
}

/** Resolves once trending tokens are served. Rejects after a minute. */
export async function ranked({ url }: Pick<MeasuredProcess, 'url'>): Promise<void> {
  const until = performance.now() + 60_000
  for (;;) {
    const response = await fetch(`${url}/v1/trending`, { headers: HEADERS })
    await response.arrayBuffer()
    if (response.status === 200) return
    if (performance.now() > until)
      throw new Error(`trending tokens still return ${response.status} after a minute`)
  }
}

async function headOf({ url }: Pick<MeasuredProcess, 'url'>): Promise<Head> {
  return (await (await fetch(`${url}/v1/health`)).json()) as Head
}
