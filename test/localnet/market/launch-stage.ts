import type { Test } from 'tap'
import type { Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58, type Pubkey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import { rentExempt } from '../../../src/localnet/market/token-layouts.ts'
import type { LaunchpadVenue, MarketPool, PoolVenue } from '../../../src/localnet/market/venue.ts'
import { MarketWorld, type DecodedScript } from './market-world.ts'

export const SOL = 1_000_000_000n

/** A launched coin with a trader. */
export class LaunchStage {
  readonly world
  readonly creator
  readonly trader
  readonly launched: DecodedScript
  readonly curve: MarketPool
  readonly mint: Pubkey
  readonly #launchpad: LaunchpadVenue<MarketPool>

  constructor(launchpad: LaunchpadVenue<MarketPool>, seed = launchpad.venue as string) {
    this.#launchpad = launchpad
    this.world = new MarketWorld(seed)
    this.creator = this.world.person()
    this.trader = this.world.person()
    this.world.give(this.trader, NATIVE_MINT, 5_000n * SOL)
    const coin = { name: 'A Coin', symbol: 'COIN', uri: 'https://example.org/coin.json' }
    let made: MarketPool | null = null
    this.launched = this.world.run(this.creator, (script) => {
      made = launchpad.launch(script, { creator: this.creator, ...coin }, this.world)
    })
    this.curve = made!
    this.mint = launchpad.mintOf(this.curve)
    this.world.run(this.trader, (script) => void script.ensureTokenAccount(this.trader, this.mint))
  }

  tokens(): bigint {
    return this.world.ledger.tokens(this.world.ledger.tokenAccountOf(this.trader, this.mint))
  }

  /** Runs a swap as one transaction and returns it with the swap's own result; null if the swap has no result. */
  swap(isBuy: boolean, amountIn: bigint) {
    let executed = null as ReturnType<PoolVenue<MarketPool>['swap']>
    const decoded = this.world.run(this.trader, (script) => {
      executed = this.#launchpad.swap(
        script,
        this.curve,
        { trader: this.trader, isBuy, amountIn },
        this.world
      )
    })
    return executed === null ? null : { ...decoded, executed }
  }

  trades(t: Test, isBuy: boolean, amountIn: bigint): DecodedScript {
    const swapped = this.swap(isBuy, amountIn)
    if (swapped === null) throw new Error('the swap gives nothing')
    this.#check(t, isBuy, swapped)
    return swapped
  }

  compares(t: Test, isBuy: boolean, amountIn: bigint): boolean {
    const swapped = this.swap(isBuy, amountIn)
    if (swapped !== null) this.#check(t, isBuy, swapped)
    return swapped !== null
  }

  #check(t: Test, isBuy: boolean, swapped: NonNullable<ReturnType<LaunchStage['swap']>>): void {
    const { executed, events, notes } = swapped
    t.same(notes, [])
    const [trade] = events
    if (trade?.kind !== 'trade') return void t.fail('no trade')
    t.same(
      facts(trade),
      [
        this.#launchpad.venue,
        pubkeyToBase58(this.curve.address),
        pubkeyToBase58(this.trader),
        pubkeyToBase58(isBuy ? NATIVE_MINT : this.mint),
        pubkeyToBase58(isBuy ? this.mint : NATIVE_MINT),
        executed.amountIn,
        executed.amountOut
      ],
      'the trade'
    )
    const fees = trade.fees.reduce((sum, { amount }) => sum + amount, 0n)
    t.equal(
      isBuy ? trade.inAmount + fees : trade.outAmount - fees,
      isBuy ? executed.amountIn : executed.amountOut
    )
    t.ok(wireSize(swapped) <= 1232)
    this.#checkAccounts(t, isBuy, trade)
  }

  /** Checks that the curve's account equals the event, and that vaults and lamports cover it. */
  #checkAccounts(t: Test, isBuy: boolean, { reserves }: Trade): void {
    const { ledger } = this.world
    const data = ledger.data(this.curve.address)!
    const view = new DataView(data.buffer, data.byteOffset)
    const u64 = (at: number): bigint => view.getBigUint64(at, true)
    const stated = isBuy
      ? { base: reserves?.out, quote: reserves?.in }
      : { base: reserves?.in, quote: reserves?.out }
    const { baseVault, quoteVault, vault } = this.curve as MarketPool & {
      readonly baseVault: Pubkey
      readonly quoteVault: Pubkey
      readonly vault: Pubkey
    }
    switch (this.#launchpad.venue) {
      case 'pumpfun':
        t.same(stated, { base: u64(24), quote: u64(32) })
        t.equal(ledger.tokens(vault) - u64(24), 206_900_000_000_000n)
        t.equal(ledger.lamports(this.curve.address), u64(32) + rentExempt(data.length))
        break
      case 'raydium-launchlab':
        t.same(stated, { base: u64(29) - u64(53), quote: u64(61) })
        t.equal(ledger.tokens(baseVault), u64(21) - u64(53))
        t.equal(ledger.tokens(quoteVault), u64(61) + u64(77) + u64(85))
        break
      case 'meteora-dbc':
        t.equal(stated.quote, u64(240))
        t.equal(ledger.tokens(baseVault), u64(232))
        t.equal(ledger.tokens(quoteVault), u64(240) + u64(256) + u64(272))
        break
      default:
        t.equal(ledger.tokens(vault), u64(16))
        t.equal(
          ledger.lamports(this.curve.address),
          (this.curve as { raised?: bigint }).raised! + rentExempt(84)
        )
    }
  }

  graduate() {
    let destination: ReturnType<LaunchpadVenue<MarketPool>['graduate']> | null = null
    const decoded = this.world.run(this.world.person(), (script) => {
      destination = this.#launchpad.graduate(script, this.curve, this.world)
    })
    return { decoded, destination: destination! }
  }

  tradesAfter(t: Test, venue: PoolVenue<MarketPool>, pool: MarketPool): void {
    for (const isBuy of [true, false]) {
      let executed = null as ReturnType<PoolVenue<MarketPool>['swap']>
      const amountIn = isBuy ? SOL : this.tokens() / 2n
      const { events, notes } = this.world.run(this.trader, (script) => {
        executed = venue.swap(script, pool, { trader: this.trader, isBuy, amountIn }, this.world)
      })
      t.same(notes, [])
      t.match(events, [{ kind: 'trade', traderIn: executed!.amountIn, traderOut: executed!.amountOut }])
    }
  }
}

function facts(trade: Trade): unknown[] {
  const { venue, pool, user, inMint, outMint, traderIn, traderOut } = trade
  return [venue, ...[pool, user, inMint, outMint].map((key) => pubkeyToBase58(key)), traderIn, traderOut]
}

export function wireSize({ transaction }: DecodedScript): number {
  return transaction.wire.length
}
