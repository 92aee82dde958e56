import fc from 'fast-check'
import t from 'tap'
import { ASSUMED } from '../../src/capacity/coefficients.ts'
import { fleetNeed, type FleetLoad } from '../../src/capacity/fleet-need.ts'
import { MAINNET_COSTS } from '../../src/capacity/mainnet-costs.ts'
import { KEYS_MAX } from '../../src/access/key-directory.ts'
import { SOCKETS_MAX, SOCKETS_PER_KEY_MAX } from '../../src/access/key-sockets.ts'
import { TENANTS_MAX } from '../../src/access/tenant-directory.ts'
import { TRANSACTION_SHARDS } from '../../src/transactions/submission.ts'
import { PROCESSES_MAX } from '../../storage/cluster/coordination.ts'
import { randomRuns } from '../random-runs.ts'

const SMALL: FleetLoad = {
  ...{ tradesPerDay: 5_000_000, days: 90, streams: 1_000, eventsPerStream: 1 },
  ...{ transactionsPerSecond: 10, tenants: 100 }
}

const loads = fc.record({
  tradesPerDay: fc.integer({ min: 1_000, max: 50_000_000 }),
  days: fc.integer({ min: 1, max: 400 }),
  streams: fc.integer({ min: 0, max: 200_000 }),
  eventsPerStream: fc.double({ min: 0, max: 2, noNaN: true }),
  transactionsPerSecond: fc.integer({ min: 0, max: 2_000 }),
  tenants: fc.integer({ min: 1, max: 100_000 })
})

t.test('a small load needs two processes of each role and three CQL nodes', async (t) => {
  const { roles, cql } = fleetNeed(SMALL, MAINNET_COSTS)
  t.same(
    roles.map(({ role, processes }) => [role, processes]),
    [
      ['ingest', 2],
      ['delivery', 2],
      ['gateway', 2]
    ]
  )
  t.equal(cql.nodes, 3)
})

t.test('twice the load never needs less, and its walls are no further away', async (t) => {
  fc.assert(
    fc.property(loads, (load) => {
      const once = fleetNeed(load, MAINNET_COSTS)
      const twice = fleetNeed(
        {
          ...load,
          tradesPerDay: load.tradesPerDay * 2,
          streams: load.streams * 2,
          transactionsPerSecond: load.transactionsPerSecond * 2,
          tenants: load.tenants * 2
        },
        MAINNET_COSTS
      )
      return (
        twice.cql.nodes >= once.cql.nodes &&
        once.roles.every((role, at) => {
          const other = twice.roles[at]!
          return (
            other.processes >= role.processes &&
            other.memoryBytes >= role.memoryBytes &&
            other.wall.times <= role.wall.times * 1.0001
          )
        })
      )
    }),
    randomRuns(10)
  )
  t.pass()
})

t.test(
  'each process of a computed fleet stays below the stated share of a core, or its wall is near',
  async (t) => {
    fc.assert(
      fc.property(loads, (load) => {
        const { roles, simulated } = fleetNeed(load, MAINNET_COSTS)
        return roles.every(
          ({ role, wall }) => simulated.roles[role].share <= ASSUMED.loopShare.value || wall.times <= 1
        )
      }),
      randomRuns(10)
    )
    t.pass()
  }
)

t.test('a quantity beyond a limit of the service has that limit as its wall', async (t) => {
  const { roles } = fleetNeed({ ...SMALL, tenants: 100_000 }, MAINNET_COSTS)
  t.match(
    roles.find(({ role }) => role === 'gateway'),
    { wall: { limit: '10,000 tenants', times: 0.1 } }
  )
})

t.test('the limits of the service are those of its code', async (t) => {
  const { fleetProcesses, keys, shards, sockets, socketsPerKey, tenants } = ASSUMED
  t.same(
    [fleetProcesses, keys, shards, sockets, socketsPerKey, tenants].map(({ value }) => value),
    [PROCESSES_MAX, KEYS_MAX, TRANSACTION_SHARDS.length, SOCKETS_MAX, SOCKETS_PER_KEY_MAX, TENANTS_MAX]
  )
})
