import { fleetNeed, type FleetLoad, type FleetNeed } from '../capacity/fleet-need.ts'
import { MAINNET_COSTS } from '../capacity/mainnet-costs.ts'
import { sizeText } from '../kernel/cli/size-text.ts'

const TODAY: FleetLoad = {
  ...{ tradesPerDay: 42_000_000, days: 90, streams: 1_000, eventsPerStream: 1 },
  ...{ transactionsPerSecond: 10, tenants: 100 }
}

/** Loads of the page, by name. Each has one quantity of a large service, and the last has all of them. */
const LOADS: Readonly<Record<string, FleetLoad>> = {
  'mainnet today': TODAY,
  '1 M streams': { ...TODAY, streams: 1_000_000 },
  '100 k tenants': { ...TODAY, tenants: 100_000 },
  '10 k transactions a second': { ...TODAY, transactionsPerSecond: 10_000 },
  '50 M trades a day for a year': { ...TODAY, tradesPerDay: 50_000_000, days: 365 },
  'all of them': {
    ...{ tradesPerDay: 50_000_000, days: 365, streams: 1_000_000, eventsPerStream: 1 },
    ...{ transactionsPerSecond: 10_000, tenants: 100_000 }
  }
}

type Row = Readonly<Record<string, string>>

/** Returns the columns and rows of a table of processes, and of one of CQL nodes. */
export function fleetTables(): readonly (readonly [columns: readonly string[], rows: readonly Row[]])[] {
  const needs = Object.entries(LOADS).map(([load, each]) => [load, fleetNeed(each, MAINNET_COSTS)] as const)
  const tables = [needs.flatMap(roleRows), needs.map(cqlRow)]
  return tables.map((rows) => [Object.keys(rows[0]!), rows])
}

const roleRows = ([load, { roles, simulated }]: readonly [string, FleetNeed]): Row[] =>
  roles.map(({ role, processes, cores, memoryBytes, wall }) => ({
    load,
    role,
    processes: count(processes),
    cores: rounded(cores),
    memory: sizeText(memoryBytes),
    'share of a core': `${Math.round(simulated.roles[role].share * 100)} %`,
    'delay, p99': `${Math.round(simulated.roles[role].p99 * 1_000)} ms`,
    ...wallCells(wall)
  }))

const cqlRow = ([load, { cql }]: readonly [string, FleetNeed]): Row => ({
  load,
  'CQL nodes': count(cql.nodes),
  cores: rounded(cql.cores),
  disk: sizeText(cql.diskBytes),
  ...wallCells(cql.wall)
})

const wallCells = ({ limit, times }: FleetNeed['cql']['wall']): Row => ({
  'first wall': limit,
  'reached at': `${rounded(times)} × this load`
})

const count = (number: number): string => number.toLocaleString('en-US')
const rounded = (number: number): string =>
  number >= 100 ? count(Math.round(number)) : String(Number(number.toPrecision(2)))
