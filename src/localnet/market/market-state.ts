import { deserialize, serialize } from 'node:v8'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { Coin } from './coin.ts'
import type { LookupTable } from './message.ts'
import type { MarketPool } from './venue.ts'

/** A traded pool. */
export interface Pair {
  readonly id: number
  readonly venue: VenueId
  readonly pool: MarketPool
  readonly base: Pubkey
  readonly quote: Pubkey
  /** Number of the launched coin that graduated to it; null for a pair with a reference price. */
  readonly coin: number | null
  /** Worth of its quote side when it opened, in dollars. */
  readonly depthUsd: number
  /** Slot in which its accounts were added to a lookup table; null before. */
  tabledSlot: number | null
}

/** Defaults of fields that coins stored by former versions lack. */
const FORMER_COIN = {
  fate: 'flash',
  spanSlots: 400,
  launchPrice: 0,
  exitSlot: null,
  graduatedSlot: null
} as const

/** The market's state other than coins and pairs. */
export interface MarketHead {
  slot: number
  coins: number
  pairs: number
  /** Number of first pools that are open. */
  opened: number
  nextLaunch: number
  /** Numbers of the traded coins. */
  liveCoins: number[]
  /** Numbers of coins that are no longer traded but may still be held, oldest first. */
  abandonedCoins: number[]
}

/** The lookup tables. Stored separately, because they are large and change only while pools are opened. */
export interface MarketTables {
  tables: LookupTable[]
  /** Accounts to be added to a table: a pair, and the accounts that it names. */
  untabled: { readonly pair: number; addresses: Pubkey[] }[]
}

/**
 * The market's state other than the accounts: plain data in named sections, so that only sections that a slot changed are
 * rewritten.
 */
export class MarketState {
  head: MarketHead
  readonly lookup: MarketTables
  readonly coins = new Map<number, Coin>()
  /** Coins that are no longer traded, until nobody has an account of them. */
  readonly abandoned = new Map<number, Coin>()
  readonly pairs = new Map<number, Pair>()
  readonly #changed = new Set<string>()

  constructor(head: MarketHead, lookup: MarketTables) {
    this.head = head
    this.lookup = lookup
  }

  /** Restores the state from its sections; null if the store has no market yet. */
  static restore(part: (name: string) => Uint8Array | null): MarketState | null {
    const head = part('head')
    if (head === null) return null
    const stored = deserialize(head) as MarketHead & Partial<MarketTables>
    const lookup = part('tables')
    // Former versions stored the tables in the head, and did not list abandoned coins.
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

  /** Marks a coin or a pair as changed or removed since the sections were last taken. */
  touch(part: Coin | Pair): void {
    this.#changed.add(nameOf(part))
  }

  /** Tells whether a coin or a pair was marked since the sections were last taken. */
  isTouched(part: Coin | Pair): boolean {
    return this.#changed.has(nameOf(part))
  }

  /** Marks the lookup tables as changed. */
  touchTables(): void {
    this.#changed.add('tables')
  }

  /** Returns the sections changed since the last call, by name; always the head, and null for removed sections. */
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
