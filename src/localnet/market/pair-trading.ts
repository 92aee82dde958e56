import { pubkeyFromBase58, samePubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { chooseCoinTrade, noteHolder } from './curve-trading.ts'
import { chooseTrader } from './habits.ts'
import type { Pair } from './market-state.ts'
import { inMintOf } from './pairs.ts'
import type { AccountUse } from './script.ts'
import { Refused, type MarketTurn } from './turn.ts'
import type { Swap } from './venue.ts'

/** Slippage errors of programs, and of the aggregator. */
const SLIPPAGE = 6001
const JUPITER = pubkeyFromBase58('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4')
const ROUTE = Uint8Array.fromHex('e517cb977ae3ad2a')

/** Trades on a pool; with `fails` the transaction lands as failed. False if no trader could trade. */
export function tradeOnPair(turn: MarketTurn, pair: Pair, fails: boolean): boolean {
  const coin = pair.coin === null ? null : (turn.parts.state.coins.get(pair.coin) ?? null)
  if (pair.coin !== null && coin === null) return false
  const chosen = coin === null ? chooseListedTrade(turn, pair) : chooseCoinTrade(turn, coin)
  if (chosen === null) return false
  const done = swapOnPair(turn, pair, chosen, fails)
  if (done && !fails && coin !== null) noteHolder(turn, coin, chosen.number)
  return done
}

/** Swaps on a pool. False if the swap could not happen. */
export function swapOnPair(turn: MarketTurn, pair: Pair, swap: Swap, fails: boolean): boolean {
  const { pools, state } = turn.parts
  const venue = pools.find((candidate) => candidate.venue === pair.venue)
  const { trader, isBuy, amountIn } = swap
  if (venue === undefined || amountIn <= 0n) return false
  const inMint = inMintOf(pair, isBuy)
  const outMint = inMintOf(pair, !isBuy)
  const done = turn.run(
    { kind: fails ? 'failed' : 'trade', payer: trader, changes: [pair.pool] },
    (script, intend) => {
      const settle = turn.prepare(script, trader, { mint: inMint, amount: amountIn }, outMint)
      const executed = venue.swap(script, pair.pool, swap, turn.world)
      if (executed === null) throw new Refused()
      if (fails) return script.fail(SLIPPAGE)
      settle()
      const side = { pool: pair.pool.address, user: trader, inMint, outMint }
      intend({ kind: 'trade', venue: pair.venue, ...side, ...executed, hop: null, completes: false })
    }
  )
  if (done && !fails) state.touch(pair)
  return done
}

/** Maximum trade other than arbitrage, as a fraction of the pool: it moves the price by one percent. */
const LARGEST_PART = 1 / 200

/**
 * Draws a trade on a pair with a reference price. Both directions are equally likely, because arbitrage restores the
 * price.
 */
function chooseListedTrade(turn: MarketTurn, pair: Pair): (Swap & { readonly number: number }) | null {
  const { people, prices, ledger } = turn.parts
  const { number, sizeFactor } = chooseTrader(turn)
  const trader = people.traders[number]!
  const isBuy = turn.chance(0.5)
  const mint = inMintOf(pair, isBuy)
  const rawUsd = prices.rawUsd(mint, turn.slot)
  if (rawUsd === null) return null
  const usd = Math.min(turn.size(turn.pace.listedUsd) * sizeFactor, pair.depthUsd * LARGEST_PART)
  let amountIn = BigInt(Math.floor(usd / rawUsd))
  if (!samePubkey(mint, NATIVE_MINT)) {
    const owned = ledger.tokens(ledger.tokenAccountOf(trader, mint))
    if (amountIn > owned) amountIn = owned / 3n
  }
  return { number, trader, isBuy, amountIn }
}

/**
 * Routes two hops over SOL through an aggregator, such as dollars to SOL to a token; its pools are in lookup tables.
 * False if no two pools fit.
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
  // The first hop pays out SOL, the second takes it.
  const firstBuys = samePubkey(first.base, NATIVE_MINT)
  const secondBuys = samePubkey(second.quote, NATIVE_MINT)
  const startMint = firstBuys ? first.quote : first.base
  const endMint = secondBuys ? second.base : second.quote
  if (samePubkey(startMint, endMint)) return false
  const trader = turn.pick(people.traders)
  const usdMax = Math.min(first.depthUsd, second.depthUsd) * LARGEST_PART
  const usd = Math.min(turn.size(1.3 * turn.pace.listedUsd), usdMax)
  const amountIn = BigInt(Math.floor(usd / prices.rawUsd(startMint, turn.slot)!))
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

/** Encodes the arguments of a route of two steps, each with the full amount and without a minimum output. */
function routeData(amountIn: bigint): Uint8Array {
  const tail = new DataView(new ArrayBuffer(19))
  tail.setBigUint64(0, amountIn, true)
  tail.setUint16(16, 50, true)
  return Uint8Array.of(...ROUTE, 2, 0, 0, 0, 7, 100, 0, 1, 7, 100, 1, 2, ...new Uint8Array(tail.buffer))
}

/** Adds or removes a fraction of a pool's liquidity for a maker. False if the venue has no liquidity changes. */
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
