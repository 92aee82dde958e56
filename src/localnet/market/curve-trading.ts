import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { Coin } from './market-state.ts'
import type { TransactionScript } from './script.ts'
import { Refused, type MarketTurn } from './turn.ts'
import type { LaunchpadVenue, MarketPool } from './venue.ts'
import { addPair } from './pairs.ts'

const SOL = 1e9
/** Slippage errors of the launchpads' programs. */
const TOO_MUCH = 6002

const NAMES = [
  'Amber',
  'Basalt',
  'Cinder',
  'Dapple',
  'Ember',
  'Fathom',
  'Gossamer',
  'Harbor',
  'Indigo',
  'Juniper'
]
const BEASTS = ['Otter', 'Heron', 'Badger', 'Lynx', 'Newt', 'Puffin', 'Marten', 'Toad', 'Wren', 'Yak']

/** Launches a coin; its creator mostly buys some of it at once. */
export function launchCoin(turn: MarketTurn, launchpad: LaunchpadVenue<MarketPool>): void {
  const { state, people, ledger } = turn.parts
  const { head } = state
  const id = head.coins
  const creator = turn.pick(people.creators)
  const name = `${turn.pick(NAMES)} ${turn.pick(BEASTS)}`
  const symbol = `${name.replace(/[a-z ]/g, '')}${id}`
  const uri = `https://coins.example.org/${symbol.toLowerCase()}.json`
  let coin: Coin | null = null
  const done = turn.run({ kind: 'launch', payer: creator }, (script, intend) => {
    const curve = launchpad.launch(script, { creator, name, symbol, uri }, turn.world)
    const mint = launchpad.mintOf(curve)
    const { venue } = launchpad
    intend({ kind: 'launch', venue, mint, curve: curve.address, creator, name, symbol, uri })
    const heat = 10 ** (1.6 * turn.random.next() ** 2 - 0.5)
    coin = {
      id,
      launchpad: venue,
      mint,
      symbol,
      bornSlot: turn.slot,
      heat,
      curve,
      graduated: false,
      holders: [],
      everHeld: []
    }
    if (!turn.chance(0.5) || ledger.lamports(creator) < 4 * SOL) return
    const amountIn = BigInt(Math.floor(turn.between(0.05, 1.5) * SOL))
    const settle = turn.prepare(script, creator, giveOf(launchpad, amountIn), mint)
    const executed = launchpad.swap(script, curve, { trader: creator, isBuy: true, amountIn }, turn.world)
    if (executed === null) throw new Refused()
    settle()
    const side = { user: creator, inMint: NATIVE_MINT, outMint: mint }
    intend({ kind: 'trade', venue, pool: curve.address, ...side, ...executed, hop: null, completes: false })
  })
  if (!done || coin === null) return
  head.coins++
  head.liveCoins.push(id)
  state.coins.set(id, coin)
  state.touch(coin)
}

/** What a curve is paid with: lamports need no account of wrapped SOL. */
function giveOf({ paidIn }: LaunchpadVenue<MarketPool>, amount: bigint) {
  return { mint: NATIVE_MINT, amount: paidIn === 'lamports' ? 0n : amount }
}

/** A trader buys from a curve, or sells back; with `fails`, the transaction ends as failed. False where nobody could. */
export function tradeOnCurve(turn: MarketTurn, coin: Coin, fails: boolean): boolean {
  const { people, ledger, launchpads, state } = turn.parts
  const launchpad = launchpads.find(({ venue }) => venue === coin.launchpad)
  if (launchpad === undefined || coin.graduated || launchpad.isComplete(coin.curve)) return false
  const isBuy = coin.holders.length === 0 || turn.chance(buyShare(coin, turn.slot))
  const number = isBuy ? Math.floor(turn.random.next() * people.traders.length) : turn.pick(coin.holders)
  const trader = people.traders[number]!
  const { mint, curve } = coin
  const tokens = ledger.tokenAccountOf(trader, mint)
  const owned = ledger.tokens(tokens)
  const sellsAll = turn.chance(0.5)
  const amountIn = isBuy
    ? BigInt(Math.floor(Math.min(turn.size(0.6), 40) * SOL))
    : sellsAll
      ? owned
      : (owned * BigInt(Math.floor(turn.between(100, 900)))) / 1000n
  const done = turn.run(
    { kind: fails ? 'failed' : 'trade', payer: trader, changes: [curve] },
    (script: TransactionScript, intend) => {
      const settle = isBuy
        ? turn.prepare(script, trader, giveOf(launchpad, amountIn), mint)
        : launchpad.paidIn === 'lamports'
          ? () => undefined
          : turn.prepare(script, trader, { mint, amount: amountIn }, NATIVE_MINT)
      const executed = launchpad.swap(script, curve, { trader, isBuy, amountIn }, turn.world)
      if (executed === null) throw new Refused()
      if (fails) return script.fail(TOO_MUCH)
      settle()
      if (!isBuy && sellsAll && turn.chance(0.6)) script.closeTokenAccount(tokens, trader, trader)
      intend({
        kind: 'trade',
        venue: coin.launchpad,
        pool: curve.address,
        user: trader,
        inMint: isBuy ? NATIVE_MINT : mint,
        outMint: isBuy ? mint : NATIVE_MINT,
        ...executed,
        hop: null,
        completes: launchpad.isComplete(curve)
      })
    }
  )
  if (done && !fails) {
    noteHolder(turn, coin, number)
    state.touch(coin)
  }
  return done
}

/** Keeps the list of who may hold a coin in step with a trade. */
export function noteHolder(turn: MarketTurn, coin: Coin, number: number): void {
  const { people, ledger } = turn.parts
  const holds = ledger.tokens(ledger.tokenAccountOf(people.traders[number]!, coin.mint)) > 0n
  const at = coin.holders.indexOf(number)
  if (!coin.everHeld.includes(number)) coin.everHeld.push(number)
  if (holds && at < 0) coin.holders.push(number)
  if (!holds && at >= 0) coin.holders.splice(at, 1)
}

/** The share of buys among the trades of a coin: it comes and goes in waves of its own. */
export function buyShare({ id, heat }: Coin, slot: number): number {
  return 0.56 + 0.04 * Math.min(heat, 3) + 0.22 * Math.sin(slot / 160 + id * 2.4)
}

/** Migrates a curve that has sold all to the pool that it graduates to. */
export function graduateCoin(turn: MarketTurn, coin: Coin): void {
  const { launchpads, people, state } = turn.parts
  const launchpad = launchpads.find(({ venue }) => venue === coin.launchpad)
  if (launchpad === undefined) return
  const changes = [coin.curve]
  const plan = { kind: 'graduation', payer: people.operator, changes, usesTables: true } as const
  const { launchpad: venue, mint, curve } = coin
  const reached: { readonly venue: VenueId; readonly pool: MarketPool }[] = []
  const done = turn.run(plan, (script, intend) => {
    const destination = launchpad.graduate(script, curve, turn.world)
    reached.push(destination)
    const to = { destinationVenue: destination.venue, destination: destination.pool.address }
    intend({ kind: 'graduation', venue, mint, curve: curve.address, ...to })
  })
  const [destination] = reached
  if (!done || destination === undefined) return
  coin.graduated = true
  state.touch(coin)
  addPair(turn, { ...destination, base: mint, quote: NATIVE_MINT, coin: coin.id, depthUsd: 12_000 })
}
