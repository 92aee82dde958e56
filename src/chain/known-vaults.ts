import { hashOfKeyBytes, hashOfKeyText } from './account-hash.ts'
import type { ChainEvent } from './events.ts'
import { pubkeyToBase58, type Pubkey } from './pubkey.ts'
import type { VenueId } from './venue-id.ts'

/** A token account of a pool. */
export interface KnownVault {
  readonly venue: VenueId
  /** Base58. For a shared vault, the first of its pools that traded. */
  readonly pool: string
  /** Base58. */
  readonly address: string
}

/**
 * Vaults in each of two generations, 280 bytes each: together at most 14 MB. Pools without recent trades are the least
 * likely to move.
 */
const GENERATION = 25_000

/**
 * Vaults of the pools that traded or were created most recently, in memory. A vault is known from the first event that names
 * it. When a generation is full, it replaces the former generation, whose vaults are evicted. An evicted vault is unknown
 * until its pool trades again.
 */
export class KnownVaults {
  readonly #generation: number
  readonly #venues: ReadonlySet<VenueId> | undefined
  /** By both hashes of an address, because a source has it as bytes or as text. */
  #recent = new Map<number, KnownVault>()
  #former: ReadonlyMap<number, KnownVault> = new Map()

  /** `venues` are the indexed ones; all venues if absent. */
  constructor(venues?: ReadonlySet<VenueId>, generation = GENERATION) {
    this.#venues = venues
    this.#generation = generation
  }

  /** Number of known vaults; those of both generations count twice. */
  get size(): number {
    return (this.#recent.size + this.#former.size) / 2
  }

  /** Adds the vaults that an event names. */
  learn(event: ChainEvent): void {
    if (event.kind === 'trade') {
      if (event.vaults === undefined) return
      this.#add(event, event.vaults.in)
      this.#add(event, event.vaults.out)
    } else if (event.kind === 'pool') {
      this.#add(event, event.baseVault)
      this.#add(event, event.quoteVault)
    }
  }

  /**
   * Returns the vault that a hash (`accountHashes`) stands for. Addresses may share a hash. Comparing them takes longer, so
   * the caller compares addresses where it matters.
   */
  ofHash(hash: number): KnownVault | undefined {
    return this.#recent.get(hash) ?? this.#former.get(hash)
  }

  #add({ venue, pool }: Pick<ChainEvent, 'venue' | 'pool'>, vault: Pubkey | null): void {
    if (vault === null || this.#venues?.has(venue) === false) return
    const hash = hashOfKeyBytes(vault)
    if (this.#recent.has(hash)) return
    if (this.#recent.size >= 2 * this.#generation) {
      this.#former = this.#recent
      this.#recent = new Map()
    }
    const address = pubkeyToBase58(vault)
    const known = this.#former.get(hash) ?? { venue, pool: pubkeyToBase58(pool), address }
    this.#recent.set(hash, known)
    this.#recent.set(hashOfKeyText(address), known)
  }
}
