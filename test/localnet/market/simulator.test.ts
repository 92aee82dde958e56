import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { pubkeyMapKey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import { holdsTokens } from '../../../src/localnet/market/ledger.ts'
import type { IntendedSlot } from '../../../src/localnet/market/oracle.ts'
import { USDC } from '../../../src/localnet/programs.ts'
import { MarketSimulator, BUSY_MARKET, type MarketSettings } from '../../../src/localnet/market/simulator.ts'
import { LAUNCHPADS, POOL_VENUES } from '../../../src/localnet/market/venues.ts'
import { OracleComparison } from './oracle-comparison.ts'
import { IS_LONG } from '../../random-runs.ts'

const START = 1_800_000_000

/** A market that does in 300 slots what usual ones do in thousands. */
const DENSE = {
  ...BUSY_MARKET,
  pace: { ...BUSY_MARKET.pace, transactionsPerSlot: 18, launchEverySlots: 9 }
}

/** A market with its oracle at hand. */
class Stage {
  readonly simulator: MarketSimulator
  readonly comparison = new OracleComparison()
  readonly parts = new Map<string, Uint8Array>()
  #intended: IntendedSlot | null = null

  constructor(settings: MarketSettings, before?: Stage) {
    for (const [name, part] of before?.parts ?? []) this.parts.set(name, part)
    for (const [key, account] of before?.comparison.accounts ?? []) this.comparison.accounts.set(key, account)
    const kept = {
      part: (name: string) => this.parts.get(name) ?? null,
      account: (address: Uint8Array) => this.comparison.accounts.get(pubkeyMapKey(address)) ?? null
    }
    this.simulator = new MarketSimulator(
      settings,
      before === undefined ? null : kept,
      (slot) => (this.#intended = slot)
    )
  }

  fill(slot: number) {
    const done = this.simulator.fill(slot, timeOf(slot))
    for (const [name, part] of this.simulator.takeParts()) {
      if (part === null) this.parts.delete(name)
      else this.parts.set(name, part)
    }
    return { done, intended: this.#intended! }
  }

  compare(slot: number): void {
    const { done, intended } = this.fill(slot)
    this.comparison.compare(done, intended)
  }

  /** Returns a slot's transactions in short form. */
  print(slot: number): string[] {
    return this.fill(slot).done.map(({ transaction }) => transaction.signature.toHex())
  }
}

function timeOf(slot: number): number {
  return START + Math.floor(slot * 0.4)
}

for (const seed of IS_LONG ? ['granite', 'plum', 'kelp'] : ['granite']) {
  t.test(
    `300 slots of seed ${seed}: the decoder reads every transaction as the oracle meant it`,
    async (t) => {
      const stage = new Stage({ ...DENSE, seed })
      for (let slot = 1; slot <= 300; slot++) stage.compare(slot)
      const { seen } = stage.comparison
      const count = (what: string): number => seen.get(what) ?? 0
      for (const kind of [
        'vote',
        'transfer',
        'table',
        'trade',
        'route',
        'liquidity',
        'graduation',
        'failed'
      ]) {
        t.ok(count(kind) > 0, `${count(kind)} transactions: ${kind}`)
      }
      for (const { venue, changeLiquidity } of POOL_VENUES) {
        t.ok(count(`${venue} trade`) > 20, `${count(`${venue} trade`)} trades on ${venue}`)
        if (changeLiquidity !== null) t.ok(count(`${venue} liquidity`) > 0, `liquidity of ${venue}`)
      }
      for (const { venue } of LAUNCHPADS) {
        t.ok(count(`${venue} launch`) > 2, `${count(`${venue} launch`)} launches on ${venue}`)
        t.ok(count(`${venue} trade`) > 20, `${count(`${venue} trade`)} trades on ${venue}`)
      }
      t.ok(stage.comparison.compareSupplies() > 30, 'holders hold the supply')
    }
  )
}

t.test('the comparison fails where the oracle meant something else', async (t) => {
  const stage = new Stage({ ...DENSE, seed: 'moss' })
  let slot = 1
  for (; slot < 40; slot++) stage.compare(slot)
  const { done, intended } = stage.fill(slot)
  const at = intended.transactions.findIndex(({ events }) => events.some(({ kind }) => kind === 'trade'))
  const told = intended.transactions[at]!
  const altered = (events: typeof told.events): IntendedSlot => ({
    ...intended,
    transactions: intended.transactions.with(at, { ...told, events })
  })
  const more = told.events.map((event) =>
    event.kind === 'trade' ? { ...event, amountOut: event.amountOut + 1n } : event
  )
  const compares = (meant: IntendedSlot) => () => stage.comparison.copy().compare(done, meant)
  t.doesNotThrow(compares(intended))
  t.throws(compares(altered(more)), /deep-equal/, 'another amount')
  t.throws(compares(altered([])), /nothing was read/, 'an event too many')
  t.throws(compares(altered([...told.events, ...told.events])), /not among/, 'an event too few')
})

t.test('a market repeats exactly, also from where it was kept, and another seed gives another', async (t) => {
  const settings = { ...DENSE, seed: 'otter' }
  const first = new Stage(settings)
  const second = new Stage(settings)
  const other = new Stage({ ...settings, seed: 'heron' })
  for (let slot = 1; slot <= 60; slot++) {
    const printed = first.print(slot)
    t.same(second.print(slot), printed)
    t.notSame(other.print(slot), printed)
  }
  const whole = new Stage(settings)
  for (let slot = 1; slot <= 60; slot++) whole.compare(slot)
  const restored = new Stage(settings, whole)
  t.equal(restored.simulator.slot, 60)
  for (let slot = 61; slot <= 120; slot++) {
    if (slot % 7 === 0) continue
    const { done, intended } = whole.fill(slot)
    const again = restored.fill(slot)
    t.ok(isDeepStrictEqual(again, { done, intended }), `slot ${slot}`)
    restored.comparison.compare(again.done, again.intended)
  }
})

t.test('a coin that is no longer traded loses its accounts and its memory', async (t) => {
  // Each slot launches a coin: within 130 slots there are more coins than the market trades.
  const pace = { ...BUSY_MARKET.pace, transactionsPerSlot: 16, launchEverySlots: 1 }
  // A coin that graduates leaves a pool, whose accounts stay.
  const settings = { ...BUSY_MARKET, graduateEvery: 100, pace, seed: 'marten' }
  const stage = new Stage(settings)
  const counts: { held: number; coins: number }[] = []
  for (let slot = 1; slot <= 390; slot++) {
    stage.compare(slot)
    if (slot % 130 !== 0) continue
    const open = [...stage.comparison.accounts.values()].filter(
      (account) => account.lamports > 0n && holdsTokens(account)
    )
    const coins = [...stage.parts.keys()].filter((name) => name.startsWith('coin/'))
    counts.push({ held: open.length, coins: coins.length })
  }
  const [, before, after] = counts
  const launched = LAUNCHPADS.reduce(
    (sum, { venue }) => sum + (stage.comparison.seen.get(`${venue} launch`) ?? 0),
    0
  )
  t.ok(launched > 300, `${launched} coins were launched`)
  t.ok(stage.comparison.seen.get('sweep')! > 50, `${stage.comparison.seen.get('sweep')} were given up`)
  t.ok(after!.coins < 160, `${before!.coins}, then ${after!.coins} are remembered`)
  t.ok(after!.held < before!.held * 1.2, `${before!.held} token accounts became ${after!.held}`)
  stage.comparison.compareSupplies()
  const restored = new Stage(settings, stage)
  t.ok(
    isDeepStrictEqual(restored.fill(391), stage.fill(391)),
    'and it goes on the same from where it was kept'
  )
})

t.test("payments of others into the market's accounts remain after the market used them", async (t) => {
  const whole = new Stage({ ...DENSE, seed: 'toad' })
  for (let slot = 1; slot <= 20; slot++) whole.compare(slot)
  const stage = new Stage({ ...DENSE, seed: 'toad' }, whole)
  const gift = 123_456_789n
  const { accounts } = stage.comparison
  const payees = whole.fill(21).done.map(({ accounts }) => accounts[0]!.address)
  for (const address of new Set(payees.map(pubkeyMapKey))) {
    const account = accounts.get(address)!
    accounts.set(address, { ...account, lamports: account.lamports + gift })
  }
  // The comparison checks each balance before a transaction, and so the gifts.
  for (let slot = 21; slot <= 40; slot++) stage.compare(slot)
  t.ok(payees.length > 5)
})

t.test('a slot is filled once, and none before it', async (t) => {
  const { simulator } = new Stage({ ...DENSE, seed: 'newt' })
  simulator.fill(5, timeOf(5))
  t.throws(() => simulator.fill(5, timeOf(5)), { message: 'slot 5 is filled already' })
  t.throws(() => simulator.fill(4, timeOf(4)), { message: 'slot 4 is filled already' })
  t.doesNotThrow(() => simulator.fill(9, timeOf(9)))
})

t.test('pools of SOL and dollars stay together, near the price that they are held to', async (t) => {
  const prices: number[] = []
  const stage = new Stage({ ...DENSE, seed: 'lynx' })
  for (let slot = 1; slot <= 120; slot++) {
    for (const { events } of stage.fill(slot).intended.transactions) {
      for (const event of events) {
        if (event.kind !== 'trade' || slot < 40) continue
        const [sold, bought] = [pubkeyMapKey(event.inMint), pubkeyMapKey(event.outMint)]
        const sol = pubkeyMapKey(NATIVE_MINT)
        const usd = pubkeyMapKey(USDC)
        if (event.amountOut < 1_000_000n) continue
        if (sold === sol && bought === usd)
          prices.push((Number(event.amountOut) / Number(event.amountIn)) * 1000)
        if (sold === usd && bought === sol)
          prices.push((Number(event.amountIn) / Number(event.amountOut)) * 1000)
      }
    }
  }
  t.ok(prices.length > 50, `${prices.length} trades`)
  const middle = prices.toSorted((a, b) => a - b)[Math.floor(prices.length / 2)]!
  t.ok(middle > 130 && middle < 170, `about ${middle} dollars`)
  const astray = prices.filter((price) => Math.abs(price / middle - 1) > 0.05)
  t.ok(astray.length < prices.length / 50, `${astray.length} of ${prices.length} are far from it`)
})
