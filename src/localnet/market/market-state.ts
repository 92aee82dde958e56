import { deserialize, serialize } from 'node:v8'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { Coin } from './coin.ts'
import type { LookupTable } from './message.ts'
import type { MarketPool } from './venue.ts'

/** A pool that is traded. */
export interface Pair {
  readonly id: number
  readonly venue: VenueId
  readonly pool: MarketPool
  readonly base: Pubkey
  readonly quote: Pubkey
  /** Number of the launched coin that graduated to it; null for a pair with a price of its own. */
  readonly coin: number | null
  /** What its quote was worth when it opened, in dollars. */
  readonly depthUsd: number
  /** Since when its accounts stand in a lookup table; null where they do not. */
  tabledSlot: number | null
}

/** Defaults of fields that coins of former versions lack. */
const FORMER_COIN = {
  fate: 'flash',
  spanSlots: 400,
  launchPrice: 0,
  exitSlot: null,
  graduatedSlot: null
} as const

/** What the market remembers besides coins and pairs. */
export interface MarketHead {
  slot: number
  coins: number
  pairs: number
  /** How many of the pools that a market begins with are open. */
  opened: number
  nextLaunch: number
  /** Coins that are not traded any more are left out. */
  liveCoins: number[]
  /** Coins that are not traded any more and that somebody may still have, oldest first. */
  abandonedCoins: number[]
}

/** The lookup tables: a part of their own, as they are large and change only while pools are opened. */
export interface MarketTables {
  tables: LookupTable[]
  /** Accounts that wait for a place in a table: a pair, and what it names. */
  untabled: { readonly pair: number; addresses: Pubkey[] }[]
}

/**
 * All that a market goes on from, beside the accounts: plain data in parts that are kept by name, so that only what a slot
 * changed has to be written again.
 */
export class MarketState {
  head: MarketHead
  readonly lookup: MarketTables
  readonly coins = new Map<number, Coin>()
  /** Those that nobody trades any more, until nobody has an account of theirs. */
  readonly abandoned = new Map<number, Coin>()
  readonly pairs = new Map<number, Pair>()
  readonly #changed = new Set<string>()

  constructor(head: MarketHead, lookup: MarketTables) {
    this.head = head
    this.lookup = lookup
  }

  /** Reads the parts back by name; null where there is no market yet. */
  static restore(part: (name: string) => Uint8Array | null): MarketState | null {
    const head = part('head')
    if (head === null) return null
    const stored = deserialize(head) as MarketHead & Partial<MarketTables>
    const lookup = part('tables')
    // Former versions kept the tables in the head, and abandoned coins without a word.
    const { tables = [], untabled = [] } = lookup === null ? stored : (deserialize(lookup) as MarketTables)
    const state = new MarketState(stored, { tables, untabled })
    state.head.abandonedCoins ??= []
    const { liveCoins, abandonedCoins } = state.head
    for (const id of [...liveCoins, ...abandonedCoins]) {
      const coin = part(`coin/${id}`)
      if (coin === null) throw new Error(`a coin of the market is missing: ${id}`)
      const coins = liveCoins.includes(id) ? state.coins : state.abandoned
      coins.set(id, { ...FORMER_COIN, ...(deserialize(coin) as Coin) })
    }
    for (let id = 0; id < state.head.pairs; id++) {
      const pair = part(`pair/${id}`)
      if (pair !== null) state.pairs.set(id, deserialize(pair) as Pair)
    }
    return state
  }

  /** Marks a coin or a pair as changed, or gone, since the parts were taken last. */
  touch(part: Coin | Pair): void {
    this.#changed.add(nameOf(part))
  }

  /** Whether a coin or a pair was marked since the parts were taken last. */
  isTouched(part: Coin | Pair): boolean {
    return this.#changed.has(nameOf(part))
  }

  /** Marks the lookup tables as changed. */
  touchTables(): void {
    this.#changed.add('tables')
  }

  /** What changed since the last call, by name; the head always, and null for what is gone. */
  takeParts(): Map<string, Uint8Array | null> {
    const parts = new Map<string, Uint8Array | null>()
    for (const name of this.#changed) {
      if (name === 'tables') {
        parts.set(name, serialize(this.lookup))
        continue
      }
      const [kind, number] = name.split('/')
      const id = Number(number)
      const part = kind === 'coin' ? (this.coins.get(id) ?? this.abandoned.get(id)) : this.pairs.get(id)
      parts.set(name, part === undefined ? null : serialize(part))
    }
    this.#changed.clear()
    parts.set('head', serialize(this.head))
    return parts
  }
}

function nameOf(part: Coin | Pair): string {
  return 'curve' in part ? `coin/${part.id}` : `pair/${part.id}`
}
