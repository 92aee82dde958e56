import autocannon from 'autocannon'
import type { MeasuredProcess } from './measured-process.ts'

/** Latencies are counted in classes of 10 µs up to 1 s; one more class counts everything above. */
const CLASSES_PER_MS = 100
const CLASSES = 1000 * CLASSES_PER_MS

/** A request other than a GET with the headers of the load. */
export interface Post {
  readonly method: 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Load {
  readonly headers: Readonly<Record<string, string>>
  /** Paths or whole requests that a connection sends in order, over and over; one list per connection. */
  readonly paths: readonly (readonly (string | Post)[])[]
  /** Seconds to run, or `once` to request each path once. */
  readonly seconds: number | 'once'
  /** Maximum request rate of a connection, kept while answers arrive in time; unlimited without it. */
  readonly perConnectionPerSecond?: number
}

export interface Measurement {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The server's processor time per request, in microseconds. */
  readonly cpuMicros: number
  /** Number of answers by status; a broken connection counts as status 0. */
  readonly statuses: Readonly<Record<number, number>>
}

/** Runs a closed loop against a server: a connection sends its next request when its last one is answered. */
export async function measure(server: MeasuredProcess, load: Load): Promise<Measurement> {
  const counts = new Uint32Array(CLASSES + 1)
  const statuses: Record<number, number> = {}
  const lists = load.paths.map((paths) =>
    paths.map((each) =>
      typeof each === 'string'
        ? { method: 'GET' as const, path: each }
        : { ...each, headers: { ...each.headers } }
    )
  )
  let connection = 0
  const amount = lists.reduce((sum, list) => sum + list.length, 0)
  const cpuBefore = server.cpuMs()
  let cpuAfter: number | undefined
  let answers = 0
  let started = 0
  let answered = 0
  const done = Promise.withResolvers<autocannon.Result>()
  const options: autocannon.Options = {
    url: server.url,
    headers: { ...load.headers },
    connections: lists.length,
    ...(load.seconds === 'once' ? { amount } : { duration: load.seconds }),
    ...(load.perConnectionPerSecond === undefined
      ? {}
      : { connectionRate: Math.ceil(load.perConnectionPerSecond), ignoreCoordinatedOmission: true }),
    setupClient: (client) => client.setRequests(lists[connection++ % lists.length]!)
  }
  const instance = autocannon(options, (error: unknown, result: autocannon.Result) =>
    error instanceof Error ? done.reject(error) : done.resolve(result)
  )
  instance.on('start', () => (started = performance.now()))
  instance.on('response', (_client, status, _bytes, ms) => {
    answered = performance.now()
    statuses[status] = (statuses[status] ?? 0) + 1
    counts[Math.min(CLASSES, Math.floor(ms * CLASSES_PER_MS))]!++
    // The client ends up to a second later, in which a server does what it does without requests.
    if (load.seconds === 'once' && ++answers === amount) cpuAfter = server.cpuMs()
  })
  const result = await done.promise
  if (result.errors > 0) statuses[0] = result.errors
  const seconds = (answered - started) / 1000
  const requests = counts.reduce((sum, count) => sum + count, 0)
  return {
    requests,
    perSecond: requests / seconds,
    p50Ms: quantile(counts, requests * 0.5),
    p99Ms: quantile(counts, requests * 0.99),
    cpuMicros: (((cpuAfter ?? server.cpuMs()) - cpuBefore) * 1000) / requests,
    statuses
  }
}

function quantile(counts: Uint32Array, rank: number): number {
  let seen = 0
  for (const [at, count] of counts.entries()) {
    seen += count
    if (seen >= rank) return (at + 1) / CLASSES_PER_MS
  }
  return 0
}
