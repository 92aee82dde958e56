import { answerBytesMax } from '../kernel/config/memory-budget.ts'
import { ASSUMED, coefficient } from './coefficients.ts'
import { FLEET_ROLES, type FleetCosts, type FleetRole } from './fleet-costs.ts'
import { simulateFleet, type FleetRates, type SimulatedFleet } from './fleet-simulation.ts'

const DAY = 86_400
const MIB = 2 ** 20
/** `MILLRACE_MEMORY_MB` of each process: the default. */
const MEMORY_MB = 512
/** Seconds of virtual time in which a fleet is tried: 150 blocks. */
const TRIED_SECONDS = 60
/** Share by which a role grows until a try passes: finer than the costs are known. */
const GROWTH = 0.05
/** Share of the processes that a sum of the costs needs, with which the tries begin. */
const FIRST_SHARE = 0.8
/** Processes of a role: with two, the loss of one is no outage. */
const LEAST = 2
/** Processes of a role above which no further try is made: ten times those that hear each other. */
const TRIED_MAX = 10 * ASSUMED.fleetProcesses.value
/** Share of a core below which a late process is not relieved by another one: it waits for single blocks. */
const RELIEVED_SHARE = 0.1

/** Load of a fleet on a CQL cluster. */
export interface FleetLoad {
  readonly tradesPerDay: number
  readonly days: number
  readonly streams: number
  /** Events to each connection in a second, of channels that many have in common. */
  readonly eventsPerStream: number
  readonly transactionsPerSecond: number
  readonly tenants: number
}

/** A limit that more machines do not move, and the load at which it is reached, as a multiple of the given one. */
export interface Wall {
  readonly limit: string
  readonly times: number
}

/** A role of a fleet: its processes, their CPU time and memory, and the first limit of its growth. */
export interface RoleNeed {
  readonly role: FleetRole
  readonly processes: number
  /** Cores of all of them together. */
  readonly cores: number
  readonly memoryBytes: number
  readonly wall: Wall
}

export interface FleetNeed {
  readonly roles: readonly RoleNeed[]
  readonly simulated: SimulatedFleet
  readonly cql: {
    readonly nodes: number
    readonly cores: number
    readonly diskBytes: number
    readonly wall: Wall
  }
}

const ratesOf = (load: FleetLoad): FleetRates => ({
  trades: load.tradesPerDay / DAY,
  events: load.streams * load.eventsPerStream,
  transactions: load.transactionsPerSecond
})

/**
 * Computes what a load needs: the smallest fleet whose simulation keeps each process below the stated share of a core and
 * 99 of 100 events within the stated delay. A role that no number of processes relieves stays at the number of its wall.
 */
export function fleetNeed(load: FleetLoad, costs: FleetCosts): FleetNeed {
  const rates = ratesOf(load)
  const { delivery, gateway, simulated } = smallestFleet(load, costs)
  const processes = { ingest: 2, delivery, gateway } as const
  const total = processes.ingest + delivery + gateway
  const cores = (role: FleetRole): number =>
    role === 'ingest'
      ? // One works. The other follows, as a delivery process does.
        simulated.roles.ingest.share + costs.idle.ingest + rates.trades * costs.followTrade.delivery
      : processes[role] * simulated.roles[role].share
  const tracked = load.transactionsPerSecond * ASSUMED.trackedSeconds.value * coefficient('signatureBytes')
  const memory: Readonly<Record<FleetRole, number>> = {
    ingest: 2 * processBytes('ingest'),
    delivery: delivery * processBytes('delivery') + tracked,
    gateway: gateway * processBytes('gateway') + load.streams * coefficient('connectionBytes')
  }
  const walls: Readonly<Record<FleetRole, readonly Wall[]>> = {
    ingest: [{ limit: 'one process ingests', times: ASSUMED.loopShare.value / simulated.roles.ingest.share }],
    delivery: [{ limit: 'each of 32 shards has one process', times: ASSUMED.shards.value / delivery }],
    gateway: [
      { limit: '400 processes hear each other', times: ASSUMED.fleetProcesses.value / total },
      { limit: '10,000 tenants', times: ASSUMED.tenants.value / load.tenants },
      { limit: '100,000 API keys', times: ASSUMED.keys.value / keysOf(load) }
    ]
  }
  return {
    roles: FLEET_ROLES.map((role) => ({
      role,
      processes: processes[role],
      cores: cores(role),
      memoryBytes: memory[role],
      wall: firstOf(walls[role])
    })),
    simulated,
    cql: cqlNeed(load, costs, total)
  }
}

/** Keys that a load needs: one for each tenant, and one for each twenty connections. */
const keysOf = ({ tenants, streams }: FleetLoad): number =>
  Math.max(tenants, streams / ASSUMED.socketsPerKey.value)

const firstOf = (walls: readonly Wall[]): Wall =>
  walls.reduce((first, wall) => (wall.times < first.times ? wall : first))

function smallestFleet(load: FleetLoad, costs: FleetCosts) {
  const rates = ratesOf(load)
  const { events, transactions } = rates
  const sockets = Math.ceil(load.streams / ASSUMED.sockets.value)
  const work = {
    gateway: events * costs.sendEvent + transactions * costs.acceptTransaction,
    delivery: transactions * costs.sendTransaction
  }
  let delivery = firstTry(costs, rates, 'delivery', work.delivery)
  let gateway = Math.max(sockets, firstTry(costs, rates, 'gateway', work.gateway))
  for (;;) {
    const processes = { delivery, gateway }
    const simulated = simulateFleet(rates, { costs, processes, seconds: TRIED_SECONDS })
    const { roles } = simulated
    const isTooMuch = (role: FleetRole): boolean => roles[role].share > ASSUMED.loopShare.value
    const isLate = roles.gateway.p99 > ASSUMED.delaySeconds.value && roles.gateway.share > RELIEVED_SHARE
    const grows = {
      delivery: isTooMuch('delivery') && delivery < TRIED_MAX,
      gateway: (isTooMuch('gateway') || isLate) && gateway < TRIED_MAX
    }
    if (!grows.delivery && !grows.gateway) return { delivery, gateway, simulated }
    if (grows.delivery) delivery = grown(delivery)
    if (grows.gateway) gateway = grown(gateway)
  }
}

const grown = (processes: number): number => Math.ceil(processes * (1 + GROWTH))

/** Returns a number of processes that is probably too small, to begin the tries with. */
function firstTry(
  costs: FleetCosts,
  { trades }: FleetRates,
  role: Exclude<FleetRole, 'ingest'>,
  cores: number
): number {
  const free = ASSUMED.loopShare.value - costs.idle[role] - trades * costs.followTrade[role]
  return free <= 0
    ? TRIED_MAX
    : Math.min(TRIED_MAX, Math.max(LEAST, Math.floor((FIRST_SHARE * cores) / free)))
}

function cqlNeed(load: FleetLoad, costs: FleetCosts, processes: number): FleetNeed['cql'] {
  const rates = ratesOf(load)
  const replicas = ASSUMED.replicas.value
  const perTrade = coefficient('cqlRowBytes') + coefficient('lastingBytes')
  const diskBytes =
    replicas *
    (load.tradesPerDay * load.days * perTrade +
      load.transactionsPerSecond * DAY * load.days * coefficient('submissionBytes'))
  const cores = replicas * (rates.trades * costs.cqlTrade + rates.transactions * costs.cqlTransaction)
  const nodes = Math.max(
    replicas,
    Math.ceil(diskBytes / ASSUMED.cqlNodeBytes.value),
    Math.ceil(cores / ASSUMED.cqlNodeCores.value)
  )
  // Every process but the one that ingests reads each block of the journal, from one partition, if its clients need it.
  const journalBytes = rates.trades * coefficient('cqlJournalBytes') * (processes - 1)
  return {
    ...{ nodes, cores, diskBytes },
    wall: {
      limit: 'all processes read one partition of the journal',
      times: ASSUMED.journalBytes.value / journalBytes
    }
  }
}

/** Returns the memory of a process with the default caches, in bytes. */
function processBytes(role: FleetRole): number {
  const caches =
    MEMORY_MB * MIB +
    answerBytesMax({ memoryMb: MEMORY_MB, storage: 'scylla', source: 'yellowstone', role: [role] })
  return coefficient('processBytes') + caches * coefficient('residentRatio')
}
