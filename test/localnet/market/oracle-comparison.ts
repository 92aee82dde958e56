import assert from 'node:assert/strict'
import type { ChainEvent, LiquidityChange, Trade } from '../../../src/chain/events.ts'
import { pubkeyMapKey, pubkeyToBase58, samePubkey, type Pubkey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import { readWire } from '../../../src/chain/wire.ts'
import type { LocalAccount } from '../../../src/localnet/chain.ts'
import { holdsTokens } from '../../../src/localnet/market/ledger.ts'
import type {
  IntendedEvent,
  IntendedSlot,
  IntendedTrade,
  IntendedTransaction
} from '../../../src/localnet/market/oracle.ts'
import type { MarketTransaction } from '../../../src/localnet/market/simulator.ts'
import { mintAccount, tokenAccount } from '../../../src/localnet/market/token-layouts.ts'
import { decodeExecuted, type DecodedScript } from './market-world.ts'

/** Venues whose program states no event when its curve is sold out. */
const SILENT_AT_END = new Set(['moonshot'])
/** Venues that pay out fees together with removed liquidity. */
const PAYS_FEES_WITH_LIQUIDITY = new Set(['raydium-clmm'])

/** Compares every transaction of a market with its oracle's intention, and the resulting accounts with both. */
export class OracleComparison {
  /** Accounts of a chain that applies the market's transactions. */
  readonly accounts = new Map<string, LocalAccount>()
  /** Looks up accounts that exist without the market, such as programs. */
  elsewhere: (address: Pubkey) => LocalAccount | null = () => null
  /** Number of comparisons by kind, such as `phoenix trade`. */
  readonly seen = new Map<string, number>()

  /** Returns a comparison with these accounts. */
  copy(): OracleComparison {
    const copied = new OracleComparison()
    for (const [key, account] of this.accounts) copied.accounts.set(key, account)
    return copied
  }

  /** Compares a slot. Throws an AssertionError on any difference. */
  compare(done: readonly MarketTransaction[], intended: IntendedSlot): void {
    assert.equal(done.length, intended.transactions.length)
    for (const [at, executed] of done.entries()) {
      const meant = intended.transactions[at]!
      assert.ok(Buffer.compare(executed.transaction.signature, meant.signature) === 0)
      const decoded = decodeExecuted(executed)
      this.#count(meant.kind)
      this.#compareEvents(decoded, meant)
      this.#compareAccounts(executed, decoded)
      this.#compareCurves(decoded)
    }
  }

  /** Asserts that the token accounts of each mint add up to its supply. Returns the number of mints. */
  compareSupplies(): number {
    const held = new Map<string, bigint>()
    for (const account of this.accounts.values()) {
      if (account.lamports === 0n || !holdsTokens(account)) continue
      const mint = pubkeyMapKey(tokenAccount.mint(account.data))
      held.set(mint, (held.get(mint) ?? 0n) + tokenAccount.amount(account.data))
    }
    for (const [mint, amount] of held) {
      const account = this.accounts.get(mint)!
      if (samePubkey(account.address, NATIVE_MINT)) continue
      assert.equal(mintAccount.supply(account.data), amount, pubkeyToBase58(account.address))
    }
    return held.size
  }

  #compareEvents({ events, notes, transaction }: DecodedScript, meant: IntendedTransaction): void {
    assert.deepEqual(notes, [])
    assert.equal(transaction.meta.err !== null, meant.kind === 'failed')
    const left = [...events]
    for (const event of meant.events) this.#takeEvent(left, event)
    assert.deepEqual(left.map(nameOf), [], 'nothing was read that was not meant')
  }

  #takeEvent(left: ChainEvent[], meant: IntendedEvent): void {
    this.#count(`${meant.venue} ${meant.kind}`)
    switch (meant.kind) {
      case 'trade': {
        const trade = take(left, (event): event is Trade => event.kind === 'trade')
        assert.deepEqual(tradeFacts(trade), intendedFacts(meant))
        if (!meant.completes || SILENT_AT_END.has(meant.venue)) break
        const ended = take(left, (event) => event.kind === 'curve' && event.event === 'complete')
        assert.ok(samePubkey(ended.pool, meant.pool))
        this.#count(`${meant.venue} complete`)
        break
      }
      case 'launch': {
        const launch = take(left, (event) => event.kind === 'launch')
        const created = take(left, (event) => event.kind === 'curve')
        assert.ok(launch.kind === 'launch' && created.kind === 'curve')
        const { venue, name, symbol, uri } = launch
        assert.deepEqual(
          [venue, name, symbol, uri, ...[launch.baseMint, launch.curve, launch.creator].map(text)],
          [
            meant.venue,
            meant.name,
            meant.symbol,
            meant.uri,
            ...[meant.mint, meant.curve, meant.creator].map(text)
          ]
        )
        assert.equal(created.event, 'create')
        assert.ok(samePubkey(created.curve, meant.curve))
        break
      }
      case 'graduation': {
        const migrated = take(left, (event) => event.kind === 'curve')
        assert.ok(migrated.kind === 'curve' && migrated.event === 'migrate')
        assert.deepEqual(
          [migrated.venue, text(migrated.curve), text(migrated.baseMint)],
          [meant.venue, text(meant.curve), text(meant.mint)]
        )
        if (migrated.destination !== null) assert.ok(samePubkey(migrated.destination, meant.destination))
        takeOpening(left, meant.destination, meant.destinationVenue)
        break
      }
      case 'opening':
        takeOpening(left, meant.pool, meant.venue)
        break
      case 'liquidity': {
        const change = take(left, (event): event is LiquidityChange => event.kind === 'liquidity')
        assert.deepEqual(
          [change.venue, change.event, text(change.pool), text(change.user)],
          [meant.venue, meant.event, text(meant.pool), text(meant.user)]
        )
        const read = [amountOf(change, meant.base), amountOf(change, meant.quote)]
        const moved = [meant.baseAmount, meant.quoteAmount]
        if (PAYS_FEES_WITH_LIQUIDITY.has(meant.venue) && meant.event === 'remove') {
          assert.ok(read.every((amount, side) => amount <= moved[side]!))
        } else assert.deepEqual(read, moved)
      }
    }
  }

  /** Asserts that the balances reported by the node are those of the accounts before and after. */
  #compareAccounts({ transaction, accounts }: MarketTransaction, { read }: DecodedScript): void {
    const { meta, wire } = transaction
    assert.equal(readWire(wire).kind, 'wire')
    assert.ok(wire.length <= 1232, `${wire.length} bytes fit no packet`)
    const keys = Array.from({ length: read.keys.length }, (_, index) => read.keys.bytes(index))
    const isFirst = this.accounts.size === 0
    const before = keys.map((key) => this.#held(key))
    for (const account of accounts) this.accounts.set(pubkeyMapKey(account.address), account)
    const after = keys.map((key) => this.#held(key))
    // The first transaction also carries accounts that existed before it.
    if (!isFirst) {
      assert.deepEqual(
        meta.preBalances,
        before.map((account) => account?.lamports ?? 0n)
      )
      assert.deepEqual(meta.preTokenBalances.map(amountAndMint), tokenBalances(before))
    }
    assert.deepEqual(
      meta.postBalances,
      after.map((account) => account?.lamports ?? 0n)
    )
    assert.deepEqual(meta.postTokenBalances.map(amountAndMint), tokenBalances(after))
    assert.equal(sum(meta.preBalances) - sum(meta.postBalances), meta.fee, 'only the fee is gone')
  }

  /** Asserts that the curve's account shows the reserves that a trade states. */
  #compareCurves({ events }: DecodedScript): void {
    const trades = new Map<string, Trade>()
    for (const event of events) if (event.kind === 'trade') trades.set(pubkeyMapKey(event.pool), event)
    for (const [key, { venue, inMint, reserves }] of trades) {
      const shown = curveReserves(venue, this.accounts.get(key)!.data)
      if (shown === null || reserves === null) continue
      const isBuy = samePubkey(inMint, NATIVE_MINT)
      const base = isBuy ? reserves.out : reserves.in
      if (base !== undefined) assert.equal(base, shown.base)
      assert.equal(isBuy ? reserves.in : reserves.out, shown.quote)
      this.#count('curve state')
    }
  }

  #held(address: Pubkey): LocalAccount | null {
    const account = this.accounts.get(pubkeyMapKey(address)) ?? this.elsewhere(address)
    return account === null || account.lamports === 0n ? null : account
  }

  #count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1)
  }
}

/** Returns the tokens left for sale and the funds raised by a curve's account, or null if the venue does not store them. */
export function curveReserves(venue: string, data: Uint8Array): { base: bigint; quote: bigint } | null {
  const view = new DataView(data.buffer, data.byteOffset)
  const u64 = (at: number): bigint => view.getBigUint64(at, true)
  if (venue === 'pumpfun') return { base: u64(24), quote: u64(32) }
  if (venue === 'raydium-launchlab') return { base: u64(29) - u64(53), quote: u64(61) }
  return venue === 'meteora-dbc' ? { base: u64(232), quote: u64(240) } : null
}

function take<E extends ChainEvent>(left: ChainEvent[], fits: (event: ChainEvent) => event is E): E
function take(left: ChainEvent[], fits: (event: ChainEvent) => boolean): ChainEvent
function take(left: ChainEvent[], fits: (event: ChainEvent) => boolean): ChainEvent {
  const at = left.findIndex(fits)
  assert.ok(at >= 0, `not among ${left.map(nameOf).join(', ')}`)
  return left.splice(at, 1)[0]!
}

/** Removes the events of a pool's opening: by venue its creation, its first liquidity, or both. */
function takeOpening(left: ChainEvent[], pool: Pubkey, venue: string): void {
  const own = left.filter(
    (event) => (event.kind === 'pool' || event.kind === 'liquidity') && samePubkey(event.pool, pool)
  )
  assert.ok(own.length > 0 && own.every((event) => event.venue === venue), 'the pool was opened')
  for (const event of own) left.splice(left.indexOf(event), 1)
}

function tradeFacts({ venue, pool, user, inMint, outMint, traderIn, traderOut, route }: Trade): unknown[] {
  return [venue, ...[pool, user, inMint, outMint].map(text), traderIn, traderOut, route?.hop ?? null]
}

function intendedFacts(meant: IntendedTrade): unknown[] {
  const { venue, pool, user, inMint, outMint, amountIn, amountOut, hop } = meant
  return [venue, ...[pool, user, inMint, outMint].map(text), amountIn, amountOut, hop]
}

function amountOf({ baseMint, quoteMint, baseAmount, quoteAmount }: LiquidityChange, mint: Pubkey): bigint {
  if (baseMint !== null && samePubkey(baseMint, mint)) return baseAmount
  return quoteMint !== null && samePubkey(quoteMint, mint) ? quoteAmount : 0n
}

function tokenBalances(accounts: readonly (LocalAccount | null)[]): string[] {
  return accounts.flatMap((account, accountIndex) =>
    account === null || !holdsTokens(account)
      ? []
      : [
          amountAndMint({
            accountIndex,
            mint: tokenAccount.mint(account.data),
            amount: tokenAccount.amount(account.data)
          })
        ]
  )
}

function amountAndMint(balance: { accountIndex: number; mint: Pubkey; amount: bigint }): string {
  return `${balance.accountIndex} ${text(balance.mint)} ${balance.amount}`
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

function text(key: Pubkey): string {
  return pubkeyToBase58(key)
}

function nameOf(event: ChainEvent): string {
  return `${event.venue} ${event.kind} of ${text(event.pool)}`
}
