import { MAINNET } from './coefficients.ts'
import { runLoop, type LoopWork } from './event-loop.ts'
import { FLEET_ROLES, type FleetCosts, type FleetRole } from './fleet-costs.ts'

/** Work of a fleet in a second. */
export interface FleetRates {
  readonly trades: number
  /** Events to all clients of the stream together. */
  readonly events: number
  readonly transactions: number
}

export interface SimulatedRole {
  /** Mean share of a core that a process of the role used. */
  readonly share: number
  /** Seconds from the arrival of work at the process to its end, by percentile. */
  readonly p50: number
  readonly p99: number
}

export interface SimulatedFleet {
  readonly roles: Readonly<Record<FleetRole, SimulatedRole>>
  /** Seconds from a block at the node to its events at clients, without the time that a quiet fleet takes. */
  readonly events: Pick<SimulatedRole, 'p50' | 'p99'>
}

export interface SimulationOptions {
  readonly costs: FleetCosts
  /** Processes that share the work of a role. */
  readonly processes: Readonly<Record<Exclude<FleetRole, 'ingest'>, number>>
  /** Seconds of virtual time. */
  readonly seconds: number
  readonly blocksPerSecond?: number
  readonly seed?: number
}

/**
 * Simulates one process of each role in virtual time. Blocks come at the pace of the chain, with between none and twice the
 * mean of trades, and transactions at random. A block passes through ingest before others follow it, and a transaction
 * through a gateway before it is sent. Idle work is spread evenly. Equal seeds give equal results.
 */
export function simulateFleet(rates: FleetRates, options: SimulationOptions): SimulatedFleet {
  const { costs, processes, seconds, blocksPerSecond = MAINNET.blocksPerSecond, seed = 1 } = options
  const random = randomFrom(seed)
  const trades = rates.trades / blocksPerSecond
  const events = rates.events / blocksPerSecond / processes.gateway
  const blocks = Array.from({ length: Math.floor(seconds * blocksPerSecond) }, (_, n) => ({
    at: n / blocksPerSecond,
    size: 2 * random()
  }))
  const block = (arrivesAt: number, cost: number): LoopWork => ({ kind: 'block', arrivesAt, seconds: cost })
  const busy: Record<FleetRole, number> = { ingest: 0, delivery: 0, gateway: 0 }
  const delays: Record<FleetRole, number[]> = { ingest: [], delivery: [], gateway: [] }

  const committedAt: number[] = []
  const ofIngest = blocks.map(({ at, size }) => block(at, size * trades * costs.ingestTrade))
  busy.ingest = runLoop(ofIngest, ({ work, at, isLast }) => {
    if (!isLast) return
    committedAt.push(at)
    delays.ingest.push(at - work.arrivesAt)
  })

  const eventDelays: number[] = []
  const producedAt = new Map<LoopWork, number>()
  const ofGateway = blocks.map(({ at, size }, n) => {
    const cost = size * (trades * costs.followTrade.gateway + events * costs.sendEvent)
    const work = block(committedAt[n]!, cost)
    producedAt.set(work, at)
    return work
  })
  const acceptedAt: number[] = []
  const requests = arrivals(rates.transactions / processes.gateway, seconds, random).map((at) => ({
    ...{ kind: 'transaction' as const, arrivesAt: at, seconds: costs.acceptTransaction }
  }))
  busy.gateway = runLoop(ascending([...ofGateway, ...requests]), ({ work, at, isLast }) => {
    // Clients get their events slice by slice.
    if (work.kind === 'block') eventDelays.push(at - producedAt.get(work)!)
    if (!isLast) return
    delays.gateway.push(at - work.arrivesAt)
    if (work.kind === 'transaction') acceptedAt.push(at)
  })

  // Each delivery process has its share of the transactions of all gateways, at times like those of one gateway.
  const perDelivery = (rates.transactions / processes.delivery) * seconds
  const sent = Array.from({ length: acceptedAt.length === 0 ? 0 : Math.round(perDelivery) }, () => {
    const arrivesAt = acceptedAt[Math.floor(random() * acceptedAt.length)]!
    return { kind: 'transaction' as const, arrivesAt, seconds: costs.sendTransaction }
  })
  const ofDelivery = blocks.map(({ size }, n) =>
    block(committedAt[n]!, size * trades * costs.followTrade.delivery)
  )
  busy.delivery = runLoop(ascending([...ofDelivery, ...sent]), ({ work, at, isLast }) => {
    if (isLast) delays.delivery.push(at - work.arrivesAt)
  })

  const role = (name: FleetRole): SimulatedRole => ({
    share: costs.idle[name] + busy[name] / seconds,
    ...percentiles(delays[name])
  })
  return {
    roles: Object.fromEntries(FLEET_ROLES.map((name) => [name, role(name)])) as Record<
      FleetRole,
      SimulatedRole
    >,
    events: percentiles(eventDelays)
  }
}

/** Returns the times at which requests of a rate arrive at random, ascending. */
function arrivals(rate: number, seconds: number, random: () => number): readonly number[] {
  const times: number[] = []
  if (rate === 0) return times
  for (let at = -Math.log(1 - random()) / rate; at < seconds; at += -Math.log(1 - random()) / rate)
    times.push(at)
  return times
}

const ascending = (works: readonly LoopWork[]): readonly LoopWork[] =>
  works.toSorted((a, b) => a.arrivesAt - b.arrivesAt)

function percentiles(delays: readonly number[]): Pick<SimulatedRole, 'p50' | 'p99'> {
  const sorted = delays.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

/** A linear congruential generator of numbers in [0, 1), after Knuth's MMIX. */
function randomFrom(seed: number): () => number {
  let state = BigInt(seed)
  return () => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & 0xffff_ffff_ffff_ffffn
    return Number(state >> 11n) / 2 ** 53
  }
}
