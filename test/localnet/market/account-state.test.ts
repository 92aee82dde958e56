import assert from 'node:assert/strict'
import t from 'tap'
import type { ChainEvent } from '../../../src/chain/events.ts'
import { pubkeyMapKey, pubkeyToBase58, samePubkey, type Pubkey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { MarketState } from '../../../src/localnet/market/market-state.ts'
import { holdsTokens } from '../../../src/localnet/market/ledger.ts'
import { MarketSimulator, BUSY_MARKET } from '../../../src/localnet/market/simulator.ts'
import { mintAccount, tokenAccount } from '../../../src/localnet/market/token-layouts.ts'
import { TOKEN, TOKEN_2022 } from '../../../src/localnet/programs.ts'
import { slotClock } from '../bank/lived-chain.ts'
import { decodeExecuted, type DecodedScript } from './market-world.ts'
import { curveReserves } from './oracle-comparison.ts'

const seed = 'accounts that agree with events'
const SLOTS = 220

/** A chain that a market has filled, and its transactions as the service reads them, in order. */
async function livedMarket(): Promise<{ bank: LocalBank; history: readonly DecodedScript[] }> {
  const clock = slotClock()
  const bank = await LocalBank.open({ clock, seed, retainedSlots: SLOTS + 600 })
  const kept = {
    part: (name: string) => bank.note(name),
    account: (address: Uint8Array) => bank.account(address)
  }
  const pace = { ...BUSY_MARKET.pace, transactionsPerSlot: 18, launchEverySlots: 9 }
  const market = new MarketSimulator({ ...BUSY_MARKET, pace, seed }, kept)
  bank.onSlot((slot, blockTime, include, keep) => {
    for (const { transaction, accounts } of market.fill(slot, blockTime)) include(transaction, accounts)
    for (const [name, part] of market.takeParts()) keep(name, part)
  })
  const history: DecodedScript[] = []
  for (let slot = 1; slot <= SLOTS; slot++) {
    clock.setSlot(slot)
    await bank.produceSlot()
    await new Promise((resolve) => setImmediate(resolve))
    const answer = bank.block(slot, 'processed')
    assert.ok(answer.kind === 'block')
    for (const transaction of answer.block.transactions)
      history.push(decodeExecuted({ transaction, accounts: [] }))
  }
  return { bank, history }
}

const { bank, history } = await livedMarket()
t.teardown(() => bank.close())

const addressesOf = ({ read }: DecodedScript): Pubkey[] =>
  Array.from({ length: read.keys.length }, (_, index) => read.keys.bytes(index))

const tokensOf = (address: Pubkey): bigint => {
  const account = bank.account(address)
  return account !== null && holdsTokens(account) ? tokenAccount.amount(account.data) : 0n
}

/** Returns the balance of a token account after a transaction that names it. */
function balanceAfter(done: DecodedScript, address: Pubkey): bigint {
  const index = addressesOf(done).findIndex((key) => samePubkey(key, address))
  const balance = done.transaction.meta.postTokenBalances.find((each) => each.accountIndex === index)
  return balance?.amount ?? 0n
}

/** Returns the change of a pool's holdings of a mint by an event. */
function flowOf(event: ChainEvent, mint: Pubkey): bigint {
  if (event.kind === 'trade') {
    const fees = event.fees.filter(
      (fee) => LEAVES_VAULT[event.venue] === fee.kind && samePubkey(fee.mint, mint)
    )
    const left = fees.reduce((sum, { amount }) => sum + amount, 0n)
    if (samePubkey(event.inMint, mint)) return event.inAmount - left
    return samePubkey(event.outMint, mint) ? -event.outAmount - left : 0n
  }
  if (event.kind !== 'liquidity') return 0n
  const sign = event.event === 'add' ? 1n : -1n
  if (event.baseMint !== null && samePubkey(event.baseMint, mint)) return sign * event.baseAmount
  return event.quoteMint !== null && samePubkey(event.quoteMint, mint) ? sign * event.quoteAmount : 0n
}

/** Returns the fees of a trade in a mint: only fees of a kind if given, and none if the kind is null. */
function feesOf(event: ChainEvent, mint: Pubkey, kind?: string | null): bigint {
  if (event.kind !== 'trade') return 0n
  const fees = event.fees.filter(
    (fee) => samePubkey(fee.mint, mint) && (kind === undefined || fee.kind === kind)
  )
  return fees.reduce((sum, { amount }) => sum + amount, 0n)
}

/** Venues that pay a position's fees together with its liquidity, and state only the liquidity. */
const PAYS_FEES_WITH_LIQUIDITY = new Set(['raydium-clmm'])
/** Fees that a venue moves out of a pool's vault at once; other venues leave them there until they are claimed. */
const LEAVES_VAULT: Readonly<Record<string, string>> = { 'meteora-damm-v1': 'protocol' }

t.test('the vaults of every pool hold what it opened with and what its events brought since', async (t) => {
  const state = MarketState.restore((name) => bank.note(name))!
  const venues = new Map<string, number>()
  for (const { venue, pool } of state.pairs.values()) {
    const { mints, vaults } = pool as typeof pool & Record<'mints' | 'vaults', readonly [Pubkey, Pubkey]>
    const own = history.filter(({ events }) => events.some((event) => samePubkey(event.pool, pool.address)))
    const [opening, ...later] = own
    for (const side of [0, 1] as const) {
      const since = later
        .flatMap(({ events }) => events)
        .filter((event) => samePubkey(event.pool, pool.address))
      const brought = since.reduce((sum, event) => sum + flowOf(event, mints[side]), 0n)
      const surplus = balanceAfter(opening!, vaults[side]) + brought - tokensOf(vaults[side])
      const what = `${venue} ${pubkeyToBase58(pool.address)}, side ${side}: ${surplus} too few`
      if (PAYS_FEES_WITH_LIQUIDITY.has(venue)) {
        const earned = since.reduce((sum, event) => sum + feesOf(event, mints[side]), 0n)
        assert.ok(surplus >= 0n && surplus <= earned, what)
      } else assert.equal(surplus, 0n, what)
    }
    const created = opening!.events.find((event) => event.kind === 'pool')
    if (created?.kind === 'pool' && created.baseVault !== null && created.quoteVault !== null) {
      const stated = [created.baseVault, created.quoteVault].map(pubkeyMapKey).sort()
      assert.deepEqual(stated, vaults.map(pubkeyMapKey).sort(), `${venue} names its vaults`)
    }
    const last = own.flatMap(({ events }) => events).findLast((event) => samePubkey(event.pool, pool.address))
    if (last?.kind === 'trade' && last.reserves !== null && venue === 'pumpswap') {
      const held = new Map(mints.map((mint, side) => [pubkeyMapKey(mint), tokensOf(vaults[side]!)]))
      assert.equal(last.reserves.in, held.get(pubkeyMapKey(last.inMint)))
      assert.equal(last.reserves.out, held.get(pubkeyMapKey(last.outMint)))
    }
    venues.set(venue, (venues.get(venue) ?? 0) + later.length)
  }
  t.equal(venues.size, 11, 'pools of every venue that has them')
  for (const [venue, events] of venues) t.ok(events > 10, `${venue}: ${events} transactions`)
})

t.test('the account of every curve shows the reserves that its last event states', async (t) => {
  const last = new Map<string, ChainEvent>()
  const migrated = new Set<string>()
  for (const event of history.flatMap(({ events }) => events)) {
    if (event.kind === 'curve' && event.event === 'migrate') migrated.add(pubkeyMapKey(event.curve))
    if (event.kind === 'trade') last.set(pubkeyMapKey(event.pool), event)
  }
  let compared = 0
  let virtual = 0
  for (const [key, event] of last) {
    if (event.kind !== 'trade' || event.reserves === null || migrated.has(key)) continue
    const { data } = bank.account(event.pool)!
    const shown = curveReserves(event.venue, data)
    if (shown === null) continue
    const isBuy = samePubkey(event.inMint, NATIVE_MINT)
    const { in: paid, out: taken, virtualIn, virtualOut } = event.reserves
    const [quote, base] = isBuy ? [paid, taken] : [taken, paid]
    if (quote !== undefined) assert.equal(quote, shown.quote)
    if (base !== undefined) assert.equal(base, shown.base)
    compared++
    if (event.venue !== 'pumpfun') continue
    const view = new DataView(data.buffer, data.byteOffset)
    const [virtualQuote, virtualBase] = isBuy ? [virtualIn, virtualOut] : [virtualOut, virtualIn]
    assert.deepEqual([virtualBase, virtualQuote], [view.getBigUint64(8, true), view.getBigUint64(16, true)])
    virtual++
  }
  t.ok(compared > 8, `${compared} curves`)
  t.ok(virtual > 2, `${virtual} with virtual reserves`)
})

t.test('holders as blocks tell them are the token accounts, and hold the supply of every mint', async (t) => {
  const told = new Map<
    string,
    { readonly mint: Pubkey; readonly owner: Pubkey; readonly amount: bigint } | null
  >()
  for (const done of history) {
    const after = new Map(done.transaction.meta.postTokenBalances.map((each) => [each.accountIndex, each]))
    const before = new Set(done.transaction.meta.preTokenBalances.map(({ accountIndex }) => accountIndex))
    for (const [index, address] of addressesOf(done).entries()) {
      const balance = after.get(index)
      if (balance !== undefined) told.set(pubkeyMapKey(address), balance)
      else if (before.has(index)) told.set(pubkeyMapKey(address), null)
    }
  }
  const held = new Map<string, bigint>()
  let open = 0
  for (const account of [TOKEN, TOKEN_2022].flatMap((program) => bank.accountsOf(program))) {
    if (!holdsTokens(account)) continue
    const [mint, owner] = [tokenAccount.mint(account.data), tokenAccount.owner(account.data)]
    const amount = tokenAccount.amount(account.data)
    held.set(pubkeyMapKey(mint), (held.get(pubkeyMapKey(mint)) ?? 0n) + amount)
    const key = pubkeyMapKey(account.address)
    // Accounts that were not used since the market began are in no block.
    if (!told.has(key)) continue
    const balance = told.get(key)
    assert.ok(balance, `${pubkeyToBase58(account.address)} is not told closed`)
    assert.deepEqual([balance.mint, balance.owner, balance.amount], [mint, owner, amount])
    told.delete(key)
    open++
  }
  const missing = [...told.values()].filter((balance) => balance !== null)
  t.equal(missing.length, 0, 'every account that blocks tell of is there')
  t.ok(told.size > 20, `${told.size} were closed`)
  t.ok(open > 800, `${open} accounts`)
  let mints = 0
  for (const account of [TOKEN, TOKEN_2022].flatMap((program) => bank.accountsOf(program))) {
    if (!mintAccount.is(account.data) || samePubkey(account.address, NATIVE_MINT)) continue
    assert.equal(mintAccount.supply(account.data), held.get(pubkeyMapKey(account.address)) ?? 0n)
    mints++
  }
  t.ok(mints > 30, `the supplies of ${mints} mints`)
})
