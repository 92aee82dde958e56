import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { exitSlotOf, lifeOf } from './coin-life.ts'
import { giveOf, noteHolder, swapOnCurve } from './curve-trading.ts'
import { chooseSniper } from './habits.ts'
import type { Coin } from './coin.ts'
import { Refused, type MarketTurn } from './turn.ts'
import type { LaunchpadVenue, MarketPool } from './venue.ts'

const SOL = 1e9

/**
 * Launches of a burst follow each other within a fraction of the mean gap; the next burst comes after several mean
 * gaps.
 */
const BURST_SHARE = 0.6
const BURST_GAP = [0.02, 0.12] as const
const PAUSE_GAP = [1, 3.9] as const
/** Maximum number of launches in one slot, however late they are. */
const LAUNCHES_PER_SLOT = 4

/** Launchpads by launch: each is used early, and most coins are on the first one, as on mainnet. */
const LAUNCHPAD_ORDER = [0, 1, 2, 3, 0, 0, 1, 0] as const

/** Share of launches with snipers, who buy in the launch's block but not in its transaction, and their maximum number. */
const SNIPED_SHARE = 0.55
const SNIPERS_MAX = 3

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

/** Launches the coins that are due, each with its snipers. */
export function launchDueCoins(turn: MarketTurn): void {
  const { head } = turn.parts.state
  const { launchpads } = turn.parts
  const every = turn.pace.launchEverySlots
  for (let count = 0; turn.slot >= head.nextLaunch; count++) {
    if (count === LAUNCHES_PER_SLOT) {
      head.nextLaunch = turn.slot + 1
      return
    }
    const [shortest, longest] = turn.chance(BURST_SHARE) ? BURST_GAP : PAUSE_GAP
    const gap = turn.between(shortest, longest)
    head.nextLaunch = Math.max(head.nextLaunch, turn.slot - every) + gap * every
    const launchpad = launchpads[LAUNCHPAD_ORDER[head.coins % LAUNCHPAD_ORDER.length]!]!
    const coin = launchCoin(turn, launchpad)
    if (coin !== null && turn.chance(SNIPED_SHARE)) snipe(turn, coin)
  }
}

function snipe(turn: MarketTurn, coin: Coin): void {
  const count = 1 + Math.floor(turn.random.next() * SNIPERS_MAX)
  for (let i = 0; i < count; i++) {
    const number = chooseSniper(turn)
    const trader = turn.parts.people.traders[number]!
    const amountIn = BigInt(Math.floor(turn.between(0.1, 1) * SOL))
    if (swapOnCurve(turn, coin, { trader, isBuy: true, amountIn }, false)) noteHolder(turn, coin, number)
  }
}

/** Launches a coin; its creator usually buys some at once. Null if the creator cannot pay. */
function launchCoin(turn: MarketTurn, launchpad: LaunchpadVenue<MarketPool>): Coin | null {
  const { state, people, ledger, seed, graduateEvery } = turn.parts
  const { head } = state
  const id = head.coins
  const creator = turn.pick(people.creators)
  const name = `${turn.pick(NAMES)} ${turn.pick(BEASTS)}`
  const symbol = `${name.replace(/[a-z ]/g, '')}${id}`
  const uri = `https://coins.example.org/${symbol.toLowerCase()}.json`
  const launched: Coin[] = []
  const done = turn.run({ kind: 'launch', payer: creator }, (script, intend) => {
    const curve = launchpad.launch(script, { creator, name, symbol, uri }, turn.world)
    const mint = launchpad.mintOf(curve)
    const { venue } = launchpad
    intend({ kind: 'launch', venue, mint, curve: curve.address, creator, name, symbol, uri })
    const life = lifeOf(seed, id, graduateEvery)
    const buys = turn.chance(0.85) && ledger.lamports(creator) > 6 * SOL
    launched.push({
      ...life,
      id,
      launchpad: venue,
      mint,
      symbol,
      creator,
      bornSlot: turn.slot,
      launchPrice: launchpad.price(curve, turn.world),
      curve,
      exitSlot: exitSlotOf(life, turn.slot, turn.random),
      graduatedSlot: null,
      holders: [],
      everHeld: []
    })
    if (!buys) return
    const amountIn = BigInt(Math.floor(turn.between(0.1, 2.5) * SOL))
    const settle = turn.prepare(script, creator, giveOf(launchpad, amountIn), mint)
    const executed = launchpad.swap(script, curve, { trader: creator, isBuy: true, amountIn }, turn.world)
    if (executed === null) throw new Refused()
    settle()
    const side = { user: creator, inMint: NATIVE_MINT, outMint: mint }
    intend({ kind: 'trade', venue, pool: curve.address, ...side, ...executed, hop: null, completes: false })
  })
  const [coin] = launched
  if (!done || coin === undefined) return null
  head.coins++
  head.liveCoins.push(id)
  state.coins.set(id, coin)
  state.touch(coin)
  return coin
}
