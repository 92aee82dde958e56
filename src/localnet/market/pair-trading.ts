import { pubkeyFromBase58, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { buyShare, noteHolder } from './curve-trading.ts'
import type { Coin, Pair } from './market-state.ts'
import { inMintOf } from './pairs.ts'
import type { AccountUse } from './script.ts'
import { Refused, type MarketTurn } from './turn.ts'

/** Slippage errors of programs, and of the aggregator. */
const SLIPPAGE = 6001
const JUPITER = pubkeyFromBase58('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4')
const ROUTE = Uint8Array.fromHex('e517cb977ae3ad2a')

/** Somebody trades on a pool; with `fails`, the transaction ends as failed. False where nobody could. */
export function tradeOnPair(turn: MarketTurn, pair: Pair, fails: boolean): boolean {
  const { pools, state } = turn.parts
  const venue = pools.find((candidate) => candidate.venue === pair.venue)
  if (venue === undefined) return false
  const chosen = chooseTrade(turn, pair)
  if (chosen === null) return false
  const { trader, number, isBuy, amountIn } = chosen
  const inMint = inMintOf(pair, isBuy)
  const outMint = inMintOf(pair, !isBuy)
  const done = turn.run(
    { kind: fails ? 'failed' : 'trade', payer: trader, changes: [pair.pool] },
    (script, intend) => {
      const settle = turn.prepare(script, trader, { mint: inMint, amount: amountIn }, outMint)
      const executed = venue.swap(script, pair.pool, { trader, isBuy, amountIn }, turn.world)
      if (executed === null) throw new Refused()
      if (fails) return script.fail(SLIPPAGE)
      settle()
      const side = { pool: pair.pool.address, user: trader, inMint, outMint }
      intend({ kind: 'trade', venue: pair.venue, ...side, ...executed, hop: null, completes: false })
    }
  )
  if (!done || fails) return done
  state.touch(pair)
  const coin = pair.coin === null ? undefined : state.coins.get(pair.coin)
  if (coin !== undefined && number !== null) {
    noteHolder(turn, coin, number)
    state.touch(coin)
  }
  return true
}

interface ChosenTrade {
  readonly trader: Pubkey
  /** Among the traders; null for a maker. */
  readonly number: number | null
  readonly isBuy: boolean
  readonly amountIn: bigint
}

function chooseTrade(turn: MarketTurn, pair: Pair): ChosenTrade | null {
  const { prices, state } = turn.parts
  const reference = prices.pairPrice(pair.base, pair.quote, turn.slot)
  if (reference !== null) return tradeToReference(turn, pair, reference)
  const coin = pair.coin === null ? undefined : state.coins.get(pair.coin)
  return coin === undefined ? null : tradeOfCoin(turn, pair, coin)
}

/** A pair with a price of its own: traders follow it loosely, a maker brings back one that went astray. */
function tradeToReference(turn: MarketTurn, pair: Pair, reference: number): ChosenTrade | null {
  const { pools, people, prices, ledger } = turn.parts
  const venue = pools.find((candidate) => candidate.venue === pair.venue)!
  const off = Math.log(venue.price(pair.pool, turn.world) / reference)
  const isAstray = Math.abs(off) > 0.008 && turn.chance(0.5)
  const isBuy = isAstray ? off < 0 : turn.chance(Math.min(0.95, Math.max(0.05, 0.5 - 30 * off)))
  const number = isAstray ? null : Math.floor(turn.random.next() * people.traders.length)
  const trader = number === null ? turn.pick(people.makers) : people.traders[number]!
  const usd = isAstray ? (pair.depthUsd * Math.abs(off)) / 3 : Math.min(turn.size(150), pair.depthUsd / 100)
  const mint = inMintOf(pair, isBuy)
  let amountIn = BigInt(Math.floor(usd / prices.rawUsd(mint, turn.slot)!))
  if (!samePubkey(mint, NATIVE_MINT)) {
    const owned = ledger.tokens(ledger.tokenAccountOf(trader, mint))
    if (amountIn > owned) amountIn = owned / 3n
  }
  return amountIn > 0n ? { trader, number, isBuy, amountIn } : null
}

/** A coin that graduated has the price that its waves give it. */
function tradeOfCoin(turn: MarketTurn, pair: Pair, coin: Coin): ChosenTrade | null {
  const { people, ledger } = turn.parts
  const isBuy = coin.holders.length === 0 || turn.chance(buyShare(coin, turn.slot) - 0.06)
  const number = isBuy ? Math.floor(turn.random.next() * people.traders.length) : turn.pick(coin.holders)
  const trader = people.traders[number]!
  const owned = ledger.tokens(ledger.tokenAccountOf(trader, pair.base))
  const amountIn = isBuy
    ? BigInt(Math.floor(Math.min(turn.size(0.4), 12) * 1e9))
    : (owned * BigInt(Math.floor(turn.between(200, 1001)))) / 1000n
  return amountIn > 0n ? { trader, number, isBuy, amountIn } : null
}

/**
 * A route of two hops over SOL by an aggregator, such as dollars to SOL to a token; its pools stand in lookup tables. False
 * where there are no two pools for it.
 */
export function tradeRoute(turn: MarketTurn, fails: boolean): boolean {
  const { state, people, pools, prices, ledger } = turn.parts
  const ready = [...state.pairs.values()].filter(
    ({ tabledSlot, coin }) => coin === null && tabledSlot !== null && tabledSlot < turn.slot
  )
  const selling = ready.filter(
    ({ base, quote }) => samePubkey(base, NATIVE_MINT) || samePubkey(quote, NATIVE_MINT)
  )
  if (selling.length < 2) return false
  const first = turn.pick(selling)
  const second = turn.pick(selling)
  if (first === second) return false
  // The first hop gives SOL, the second takes it.
  const firstBuys = samePubkey(first.base, NATIVE_MINT)
  const secondBuys = samePubkey(second.quote, NATIVE_MINT)
  const startMint = firstBuys ? first.quote : first.base
  const endMint = secondBuys ? second.base : second.quote
  if (samePubkey(startMint, endMint)) return false
  const trader = turn.pick(people.traders)
  const amountIn = BigInt(Math.floor(Math.min(turn.size(200), 20_000) / prices.rawUsd(startMint, turn.slot)!))
  const owned = ledger.tokens(ledger.tokenAccountOf(trader, startMint))
  if (amountIn <= 0n || amountIn > owned) return false
  const changes = [first.pool, second.pool]
  const plan = { kind: fails ? 'failed' : 'route', payer: trader, changes, usesTables: true } as const
  const done = turn.run(plan, (script, intend) => {
    const settle = turn.prepare(script, trader, { mint: startMint, amount: amountIn }, endMint)
    const wrapped = ledger.tokenAccountOf(trader, NATIVE_MINT)
    const isNew = ledger.data(wrapped) === null
    script.ensureTokenAccount(trader, NATIVE_MINT)
    const accounts: AccountUse[] = [
      { address: ledger.mint(startMint).program },
      { address: trader, signer: true, writable: true },
      { address: ledger.tokenAccountOf(trader, startMint), writable: true },
      { address: ledger.tokenAccountOf(trader, endMint), writable: true },
      { address: endMint },
      { address: JUPITER }
    ]
    script.call(JUPITER, accounts, routeData(amountIn), (call) => {
      call.log('Instruction: Route')
      let amount = amountIn
      for (const [at, [pair, isBuy]] of (
        [
          [first, firstBuys],
          [second, secondBuys]
        ] as const
      ).entries()) {
        const venue = pools.find((candidate) => candidate.venue === pair.venue)!
        const swap = { trader, isBuy, amountIn: amount }
        const executed = venue.swap(call, pair.pool, swap, turn.world)
        if (executed === null) throw new Refused()
        intend({
          kind: 'trade',
          venue: pair.venue,
          pool: pair.pool.address,
          user: trader,
          inMint: inMintOf(pair, isBuy),
          outMint: inMintOf(pair, !isBuy),
          ...executed,
          hop: at + 1,
          completes: false
        })
        amount = executed.amountOut
      }
    })
    if (fails) return script.fail(SLIPPAGE)
    settle()
    if (isNew) script.closeTokenAccount(wrapped, trader, trader)
  })
  if (done && !fails) for (const pair of [first, second]) state.touch(pair)
  return done
}

/** The arguments of a route of two steps, all of it through each; what it must give at least is not asked for. */
function routeData(amountIn: bigint): Uint8Array {
  const tail = new DataView(new ArrayBuffer(19))
  tail.setBigUint64(0, amountIn, true)
  tail.setUint16(16, 50, true)
  return Uint8Array.of(...ROUTE, 2, 0, 0, 0, 7, 100, 0, 1, 7, 100, 1, 2, ...new Uint8Array(tail.buffer))
}

/** A maker adds a part of a pool's liquidity, or takes some back. False where the venue has no such thing. */
export function changePairLiquidity(turn: MarketTurn, pair: Pair): boolean {
  const { pools, people, ledger, state } = turn.parts
  const venue = pools.find((candidate) => candidate.venue === pair.venue)
  const change = venue?.changeLiquidity
  if (pair.coin !== null || change === undefined || change === null) return false
  const maker = turn.pick(people.makers)
  const thousandths = turn.chance(0.6) ? Math.ceil(turn.between(1, 20)) : -Math.ceil(turn.between(1, 15))
  const accounts = [pair.base, pair.quote].map((mint) => ledger.tokenAccountOf(maker, mint))
  const had = accounts.map((account) => ledger.tokens(account))
  const done = turn.run({ kind: 'liquidity', payer: maker, changes: [pair.pool] }, (script, intend) => {
    change.call(venue, script, pair.pool, maker, thousandths, turn.world)
    const [baseMoved, quoteMoved] = accounts.map((account, at) => had[at]! - ledger.tokens(account))
    if (baseMoved === 0n && quoteMoved === 0n) throw new Refused()
    const adds = baseMoved! > 0n || quoteMoved! > 0n
    intend({
      kind: 'liquidity',
      venue: pair.venue,
      pool: pair.pool.address,
      user: maker,
      event: adds ? 'add' : 'remove',
      base: pair.base,
      quote: pair.quote,
      baseAmount: adds ? baseMoved! : -baseMoved!,
      quoteAmount: adds ? quoteMoved! : -quoteMoved!
    })
  })
  if (done) state.touch(pair)
  return done
}
