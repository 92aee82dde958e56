import { answersOf, startBareSide, type BareSide, type HeaderFields } from './bare-side.ts'
import { measure, type Load, type Measurement } from './closed-loop.ts'
import type { MeasuredProcess } from './measured-process.ts'
import { HEADERS } from './service-process.ts'

export const CONNECTIONS = 20
const ROUNDS = 2
/** Seconds in which most paths of a list are requested once. */
const LIST_WARM_UP_SECONDS = 10

/** Results of one load on the service and on the bare route. */
export interface Round {
  readonly mean_bytes: number
  readonly requests_per_second: number
  readonly bare_route: number
  readonly ratio: number
  /** Ratio to a route that sends only type and body, for a hot URL: there the client's reading dominates. */
  readonly ratio_to_body_alone?: number
  readonly p50_ms: { readonly millrace: number; readonly bare_route: number }
  readonly p99_ms: { readonly millrace: number; readonly bare_route: number }
  readonly cpu_us_a_request: { readonly millrace: number; readonly bare_route: number }
  readonly statuses: Readonly<Record<number, number>>
}

interface RoundsOptions {
  readonly paths: readonly string[]
  /** Seconds a round, or `once` to request each path once. */
  readonly seconds: number | 'once'
  /** Whether both servers have just started: then only their first round counts. */
  readonly justStarted: boolean
}

/** Runs one load alternately on the service and on bare routes: two rounds each, after an uncounted one. */
export async function runAgainstBare(service: MeasuredProcess, options: RoundsOptions): Promise<Round> {
  const { paths, seconds, justStarted } = options
  const load = { headers: HEADERS, paths: spread(paths), seconds }
  // The first reader of the bodies finds the caches cold. In a cold measurement that must be the measured load.
  const ours: Measurement[] = justStarted ? [await measure(service, load)] : []
  const { bodies, fields } = await answersOf(service, paths)
  const started: BareSide[] = []
  const bareRoute = async (sent: HeaderFields) => {
    const side = await startBareSide(bodies, sent)
    started.push(side)
    const bareLoad = { ...load, paths: spread(side.paths(paths.length)) }
    return { server: side.server, bareLoad, measured: [] as Measurement[] }
  }
  try {
    const whole = await bareRoute(fields)
    const bares =
      bodies.length === 1 ? [whole, await bareRoute({ 'content-type': fields['content-type']! })] : [whole]
    if (!justStarted)
      await warmUp([service, load], ...bares.map(({ server, bareLoad }) => [server, bareLoad] as const))
    for (let round = 0; round < (justStarted ? 1 : ROUNDS); round++) {
      if (!justStarted) ours.push(await measure(service, load))
      for (const { server, bareLoad, measured } of bares) measured.push(await measure(server, bareLoad))
    }
    const mine = combined(ours)
    const [peer, bodyAlone] = bares.map(({ measured }) => combined(measured))
    return {
      mean_bytes: Math.round(bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length),
      requests_per_second: Math.round(mine.perSecond),
      bare_route: Math.round(peer!.perSecond),
      ratio: mine.perSecond / peer!.perSecond,
      ...(bodyAlone === undefined ? {} : { ratio_to_body_alone: mine.perSecond / bodyAlone.perSecond }),
      p50_ms: { millrace: mine.p50Ms, bare_route: peer!.p50Ms },
      p99_ms: { millrace: mine.p99Ms, bare_route: peer!.p99Ms },
      cpu_us_a_request: { millrace: mine.cpuMicros, bare_route: peer!.cpuMicros },
      statuses: mine.statuses
    }
  } finally {
    for (const side of started) await side.end()
  }
}

/** Runs an uncounted load on each server. Skipped for just started servers, whose first requests are measured. */
async function warmUp(...loads: (readonly [MeasuredProcess, Load])[]): Promise<void> {
  for (const [server, load] of loads) {
    const isOne = load.paths[0]!.length === 1
    await measure(server, { ...load, seconds: isOne ? 1 : LIST_WARM_UP_SECONDS })
  }
}

/** Divides paths among the connections; if there are few, each connection gets all of them. */
function spread(paths: readonly string[]): string[][] {
  if (paths.length < CONNECTIONS) return Array.from({ length: CONNECTIONS }, () => [...paths])
  const each = Math.floor(paths.length / CONNECTIONS)
  return Array.from({ length: CONNECTIONS }, (_, i) => paths.slice(i * each, (i + 1) * each))
}

/** Averages the rounds; tail latency is the worst of them. */
function combined(rounds: readonly Measurement[]): Measurement {
  const mean = (of: (round: Measurement) => number): number =>
    rounds.reduce((sum, round) => sum + of(round), 0) / rounds.length
  const statuses: Record<number, number> = {}
  for (const round of rounds) {
    for (const [status, count] of Object.entries(round.statuses)) {
      statuses[Number(status)] = (statuses[Number(status)] ?? 0) + count
    }
  }
  return {
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    perSecond: mean(({ perSecond }) => perSecond),
    p50Ms: mean(({ p50Ms }) => p50Ms),
    p99Ms: Math.max(...rounds.map(({ p99Ms }) => p99Ms)),
    cpuMicros: mean(({ cpuMicros }) => cpuMicros),
    statuses
  }
}
