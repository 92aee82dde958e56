import { join } from 'node:path'
import t, { type Test } from 'tap'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { compareWithOracle } from './oracle-answers.ts'
import type { LandedEvent } from './oracle-chain.ts'
import { IS_LONG } from '../random-runs.ts'
import { runOracle, type OracleRunOptions } from './oracle-run.ts'

/** The environment sets more. */
const SLOTS = Number(process.env['LOCALNET_SLOTS'] ?? (IS_LONG ? 2_000 : 100))
const SEEDS = (process.env['LOCALNET_SEEDS'] ?? (IS_LONG ? 'granite,plum' : 'granite')).split(',')

/** Runs the service against a market's node. Asserts that its answers match the market, and that the faults occurred. */
async function holds(t: Test, options: Omit<OracleRunOptions, 'dataDir' | 'onProgress'>): Promise<void> {
  const { slots } = options
  const onProgress = (line: string): void => void t.comment(line)
  const run = await runOracle({ ...options, dataDir: join(t.testdir(), 'data'), onProgress })
  t.comment(JSON.stringify(run))
  t.strictSame(run.differences, [])
  t.strictSame(run.chainFaults, [])
  t.equal(run.venues, 15, 'every venue has traded')
  const { trades = 0, candles = 0, launches = 0, curves = 0, ...compared } = run.compared
  t.ok(trades > slots * 15, `${trades} trades are the same`)
  t.ok(candles > 30, `${candles} candles`)
  t.ok(launches >= slots / 50 && curves === launches, `${launches} launches and their curves`)
  t.ok(compared['pools of graduations']! > 0, 'graduations')
  t.ok(compared['reserves of curves']! > 0, 'reserves of curves, as accounts show them')
  const hundreds = Math.floor(slots / 100)
  const { fired } = run
  for (const [fault, least] of Object.entries({
    skips: 2 * hundreds,
    forks: 2 * hundreds,
    stalls: hundreds,
    stalledSlots: hundreds,
    errors: hundreds,
    slowAnswers: hundreds,
    cutSockets: hundreds,
    kills: hundreds,
    killsWhileBehind: 1,
    stallsSeen: options.stallsUntilSeen === true ? 1 : 0
  }))
    t.ok(fired[fault]! >= least, `${fault}: ${fired[fault]}`)
}

for (const [at, seed] of SEEDS.entries()) {
  t.test(
    `seed ${seed}: what the service tells is what the market meant, through stalls, forks, skips, errors, cut sockets and kills`,
    (t) => holds(t, { seed, slots: SLOTS, stallsUntilSeen: at === 0 })
  )
}

testWithCql(t, 'the oracle on a CQL server', (t, server) => {
  testWithOwnRedis(t, 'tells the same of a market as the embedded store', (t, redis) =>
    holds(t, {
      seed: SEEDS[0]!,
      slots: Math.min(SLOTS, 100),
      environment: clusterEnvironment(server, ownKeyspace(t, server), redis.url)
    })
  )
})

t.test('the comparison says where a service tells something else', async (t) => {
  const tampers: readonly [string, (landed: LandedEvent[]) => LandedEvent[]][] = [
    [
      'trades',
      (landed) =>
        landed.toSpliced(
          landed.findIndex(({ event }) => event.kind === 'trade'),
          1
        )
    ],
    ['trades', (landed) => landed.map((each) => ({ ...each, blockTime: each.blockTime + 1 }))],
    ['launches', (landed) => landed.filter(({ event }) => event.kind !== 'launch')],
    [
      'curves',
      (landed) =>
        landed.map((each) => (each.event.kind === 'graduation' ? { ...each, slot: each.slot + 1 } : each))
    ],
    ['launches', (landed) => landed.filter(({ event }) => event.kind !== 'graduation')]
  ]
  const missed: string[] = []
  await runOracle({
    seed: 'marten',
    slots: 100,
    dataDir: join(t.testdir(), 'data'),
    inspect: async (service, chain) => {
      const last = chain.bank.slot('confirmed')
      for (const [what, tamper] of tampers) {
        const other = { ...chain, landed: (to: number) => tamper(chain.landed(to)) }
        const { differences } = await compareWithOracle(service, other, last)
        if (!differences.some((line) => line.startsWith(what))) missed.push(`${what}: ${differences.join()}`)
      }
    }
  })
  t.strictSame(missed, [])
})
