import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { runLoop, type LoopWork } from '../../src/capacity/event-loop.ts'
import { costsOf, FLEET_ROLES, type FleetPhase, type FleetPhases } from '../../src/capacity/fleet-costs.ts'
import { simulateFleet, type SimulationOptions } from '../../src/capacity/fleet-simulation.ts'
import { ROOT } from '../house/sources.ts'
import { randomRuns } from '../random-runs.ts'

/** Largest factor between a simulated and a measured figure, as the page on capacity states it. */
const FACTOR_MAX = 2

interface MeasuredPhase extends FleetPhase {
  readonly blocks_a_second: number
  readonly event_delay_ms: { readonly p50: number; readonly p99: number }
}

interface MeasuredFleet {
  readonly gateways: number
  readonly quiet: MeasuredPhase
  readonly phases: Readonly<Record<'blocks' | 'streams' | 'transactions' | 'all', MeasuredPhase>>
}

const COSTS = {
  idle: { ingest: 0.02, delivery: 0.02, gateway: 0.02 },
  ingestTrade: 0.0006,
  followTrade: { delivery: 0.00002, gateway: 0.00005 },
  sendEvent: 0.000008,
  acceptTransaction: 0.0005,
  sendTransaction: 0.0006,
  cqlTrade: 0.0003,
  cqlTransaction: 0.002
}
const OPTIONS: SimulationOptions = { costs: COSTS, processes: { delivery: 2, gateway: 2 }, seconds: 200 }

const works = fc
  .array(
    fc.record({
      arrivesAt: fc.double({ min: 0, max: 5, noNaN: true }),
      seconds: fc.double({ min: 0, max: 0.05, noNaN: true })
    }),
    {
      maxLength: 40
    }
  )
  .map((all) =>
    all.map((each): LoopWork => ({ kind: 'block', ...each })).toSorted((a, b) => a.arrivesAt - b.arrivesAt)
  )

t.test('a loop does all of its work, none before it arrives, and nothing at two times', async (t) => {
  fc.assert(
    fc.property(works, (all) => {
      const ends = new Map<LoopWork, number>()
      let last = 0
      const busy = runLoop(all, ({ work, at, isLast }) => {
        if (at < last) throw new Error('time recedes')
        last = at
        if (isLast) ends.set(work, at)
      })
      const sum = all.reduce((seconds, work) => seconds + work.seconds, 0)
      return (
        Math.abs(busy - sum) < 1e-9 &&
        ends.size === all.length &&
        all.every((work) => ends.get(work)! >= work.arrivesAt + work.seconds - 1e-9)
      )
    }),
    randomRuns(200)
  )
  t.pass()
})

t.test('short work does not wait for the end of long work that came first', async (t) => {
  const long: LoopWork = { kind: 'block', arrivesAt: 0, seconds: 1 }
  const short: LoopWork = { kind: 'transaction', arrivesAt: 0.1, seconds: 0.001 }
  const ends: string[] = []
  runLoop([long, short], ({ work, isLast }) => isLast && ends.push(work.kind))
  t.same(ends, ['transaction', 'block'])
})

t.test('the simulated share of each process is the sum of its costs', async (t) => {
  const rates = { trades: 500, events: 40_000, transactions: 200 }
  const { roles } = simulateFleet(rates, OPTIONS)
  const shares = {
    ingest: 0.02 + 500 * COSTS.ingestTrade,
    delivery: 0.02 + 500 * COSTS.followTrade.delivery + 100 * COSTS.sendTransaction,
    gateway: 0.02 + 500 * COSTS.followTrade.gateway + 20_000 * COSTS.sendEvent + 100 * COSTS.acceptTransaction
  }
  for (const role of FLEET_ROLES) {
    const { share } = roles[role]
    t.ok(Math.abs(share - shares[role]) < 0.1 * shares[role], `${role}: ${share} of ${shares[role]}`)
  }
})

t.test('a process with too much work is later and later; equal seeds give equal results', async (t) => {
  const rates = { trades: 500, events: 200_000, transactions: 10 }
  const enough = { ...OPTIONS, processes: { delivery: 2, gateway: 4 } }
  t.ok(simulateFleet(rates, enough).events.p99 < 2)
  t.ok(simulateFleet(rates, { ...OPTIONS, processes: { delivery: 2, gateway: 1 } }).events.p99 > 20)
  t.strictSame(simulateFleet(rates, enough), simulateFleet(rates, enough))
  t.notSame(simulateFleet(rates, { ...enough, seed: 2 }), simulateFleet(rates, enough))
})

t.test('the simulation agrees with the measured fleet at several times the load of its costs', async (t) => {
  const fleet = JSON.parse(readFileSync(join(ROOT, 'loadtest/results/fleet.json'), 'utf8')) as MeasuredFleet
  const { gateways, quiet, phases } = fleet
  const { streams, transactions, all } = phases
  const costs = costsOf({ quiet, ...phases } satisfies FleetPhases, gateways)
  const simulate = (phase: MeasuredPhase) =>
    simulateFleet(
      {
        trades: phase.trades_a_second,
        events: phase.events_a_second,
        transactions: phase.sends_a_second
      },
      {
        ...{ costs, processes: { delivery: 1, gateway: gateways }, seconds: 600 },
        blocksPerSecond: phase.blocks_a_second
      }
    )
  const isWithin = (simulated: number, measured: number): boolean =>
    simulated <= FACTOR_MAX * measured && measured <= FACTOR_MAX * simulated
  t.ok(all.events_a_second > 2 * streams.events_a_second, 'it has more events')
  t.ok(all.sends_a_second > 1.9 * transactions.sends_a_second, 'and more transactions')
  const simulated = simulate(all)
  for (const role of FLEET_ROLES) {
    const cores = simulated.roles[role].share * (role === 'gateway' ? gateways : 1)
    const measured = all.cores[role]
    t.ok(
      isWithin(cores, measured),
      `${role}: ${cores.toFixed(3)} cores are simulated, ${measured.toFixed(3)} measured`
    )
  }
  // Waits that do not depend on the load: polls of the node, the commit, and other work of the machine.
  const before = simulate(streams).events
  for (const name of ['p50', 'p99'] as const) {
    const delayMs = streams.event_delay_ms[name] + 1_000 * (simulated.events[name] - before[name])
    const measuredMs = all.event_delay_ms[name]
    t.ok(
      isWithin(delayMs, measuredMs),
      `${name}: ${delayMs.toFixed(0)} ms are simulated, ${measuredMs.toFixed(0)} ms measured`
    )
  }
})
