import assert from 'node:assert/strict'
import t from 'tap'
import { orientedSides, type PoolState } from '../../../src/accounts/pools/pool-state.ts'
import { readPools } from '../../../src/accounts/pools/pool-reader.ts'
import { isRefused } from '../../../src/accounts/optional-key.ts'
import type { AccountNode } from '../../../src/accounts/ports.ts'
import { pubkeyToBase58, type Pubkey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import type { VenueId } from '../../../src/chain/venue-id.ts'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { holdsTokens } from '../../../src/localnet/market/ledger.ts'
import { MarketState } from '../../../src/localnet/market/market-state.ts'
import { BUSY_MARKET, MarketSimulator } from '../../../src/localnet/market/simulator.ts'
import { tokenAccount } from '../../../src/localnet/market/token-layouts.ts'
import { slotClock } from '../bank/lived-chain.ts'

const SLOTS = 240
/** Comparison interval in slots. */
const EVERY = 8

type Pair = readonly [bigint, bigint]

/** Fields of pools, as the programs of the market store them; each pool has some of them. */
interface Kept {
  readonly address: Pubkey
  readonly mints: readonly [Pubkey, Pubkey]
  readonly vaults: readonly [Pubkey, Pubkey]
  readonly protocolFees?: Pair
  readonly fundFees?: Pair
}
interface KeptCurve {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly forSale: bigint
  readonly sold: bigint
  readonly raised: bigint
  readonly held: bigint
  readonly realTokens: bigint
  readonly realLamports: bigint
}

/** Reads the accounts of a chain in this process, of its newest slot. */
const nodeOf = (bank: LocalBank): AccountNode => ({
  accounts: async (addresses) => ({
    slot: bank.slot('processed'),
    accounts: addresses.map((address) => bank.account(address))
  }),
  epochSchedule: () => Promise.reject(new Error('not asked for')),
  tokenAccounts: () => Promise.reject(new Error('not asked for')),
  programAccounts: () => Promise.reject(new Error('not asked for'))
})

t.test('reserves and curves read from accounts are those of the chain, slot by slot', async (t) => {
  const seed = 'pools by their accounts'
  const clock = slotClock()
  const bank = await LocalBank.open({ clock, seed, retainedSlots: SLOTS + 600 })
  t.teardown(() => bank.close())
  const pace = { ...BUSY_MARKET.pace, transactionsPerSlot: 14, launchEverySlots: 7 }
  const kept = {
    part: (name: string) => bank.note(name),
    account: (address: Uint8Array) => bank.account(address)
  }
  const market = new MarketSimulator({ ...BUSY_MARKET, pace, seed }, kept)
  bank.onSlot((slot, blockTime, include, keep) => {
    for (const { transaction, accounts } of market.fill(slot, blockTime)) include(transaction, accounts)
    for (const [name, part] of market.takeParts()) keep(name, part)
  })
  const tokens = (address: Pubkey): bigint => {
    const account = bank.account(address)
    return account !== null && holdsTokens(account) ? tokenAccount.amount(account.data) : 0n
  }

  /** Returns the contents of a pool, by the accounts of its program. */
  const poolOwns = (pool: Kept): Pair => {
    const { vaults, protocolFees = [0n, 0n], fundFees = [0n, 0n] } = pool
    // The shared vaults of this market have one pool each.
    const side = (at: 0 | 1): bigint => tokens(vaults[at]) - protocolFees[at] - fundFees[at]
    return [side(0), side(1)]
  }
  const curveOwns: Partial<Record<VenueId, (curve: KeptCurve) => Pair>> = {
    pumpfun: ({ realTokens, realLamports }) => [realTokens, realLamports],
    'raydium-launchlab': ({ forSale, sold, raised }) => [forSale - sold, raised],
    moonshot: ({ held, raised }) => [held, raised]
  }

  const compared = new Map<string, number>()
  const count = (name: string): void => void compared.set(name, (compared.get(name) ?? 0) + 1)
  /** Reads pools as the service does, and returns their states by address. */
  const statesOf = async (subjects: readonly { pool: Pubkey; venue: VenueId }[]) => {
    const asks = subjects.map((subject) => ({ subject, accounts: [] }))
    const readings = await readPools(nodeOf(bank), asks, new AbortController().signal)
    return readings.map(({ reading, slot }, at): PoolState => {
      assert.equal(slot, bank.slot('processed'))
      if (isRefused(reading.state)) {
        const { venue, pool } = subjects[at]!
        throw new Error(`${venue} ${pubkeyToBase58(pool)} ${reading.state.reason}`)
      }
      return reading.state
    })
  }

  for (let slot = 1; slot <= SLOTS; slot++) {
    clock.setSlot(slot)
    await bank.produceSlot()
    await new Promise((resolve) => setImmediate(resolve))
    if (slot % EVERY !== 0) continue
    const state = MarketState.restore((name) => bank.note(name))!
    const pairs = [...state.pairs.values()]
    const pools = await statesOf(pairs.map(({ venue, pool }) => ({ venue, pool: pool.address })))
    for (const [at, { venue, pool }] of pairs.entries()) {
      const own = pool as unknown as Kept
      const sides = orientedSides(pools[at]!, own.mints[0], own.mints[1])
      const [first, second] = poolOwns(own)
      assert.deepEqual([sides?.base.reserve, sides?.quote.reserve], [first, second], `${venue} at ${slot}`)
      count(venue)
    }
    const coins = [...state.coins.values()].filter(({ graduatedSlot }) => graduatedSlot === null)
    const curves = await statesOf(
      coins.map(({ launchpad, curve }) => ({ venue: launchpad, pool: curve.address }))
    )
    for (const [at, { launchpad, curve }] of coins.entries()) {
      const own = curve as unknown as KeptCurve
      const sides = orientedSides(curves[at]!, own.mint, NATIVE_MINT)
      assert.ok(sides !== null)
      const expected = curveOwns[launchpad]?.(own) ?? null
      if (expected !== null) {
        // The product of a Moonshot curve rounds once; its trades round one by one.
        const slack = launchpad === 'moonshot' ? 1_000n : 0n
        assert.equal(sides.base.reserve, expected[0], `${launchpad} at ${slot}`)
        const off = sides.quote.reserve! - expected[1]
        assert.ok(off <= slack && off >= -slack, `${launchpad} at ${slot}: ${off} off`)
      } else assert.equal(sides.quote.reserve, own.raised, `${launchpad} at ${slot}`)
      assert.equal(curves[at]!.curve?.status, sides.base.reserve === 0n ? 'graduating' : 'bonding')
      count(launchpad)
    }
  }
  t.equal(compared.size, 15, 'every venue')
  for (const [venue, times] of compared) t.ok(times > 10, `${venue}: ${times} states`)
})
