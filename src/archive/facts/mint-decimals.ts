import { pubkeyMapKey, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { CashList } from '../../market/cash.ts'
import type { Fact, FactStore } from '../../../storage/port.ts'

/** Mints whose decimals are cached, 200 bytes each. */
const CACHED_MAX = 200_000

/** The position of a mint in the list: of a million mints each position has 15. */
const positionOf = (mint: Pubkey): number => mint[0]! * 256 + mint[1]!

/** Decimals as blocks or files state them. A block's count, then the lowest of those that files state. */
export interface StatedDecimals {
  readonly mint: Pubkey
  readonly decimals: number
  readonly isOfBlock: boolean
}

/**
 * The decimals of mints, as all facts of an archive state them. Which count does not depend on the order of imports, so a
 * later import can change the decimals of rows that were stored before.
 */
export class MintDecimals {
  readonly #facts: FactStore
  readonly #cached = new Map<string, readonly StatedDecimals[]>()
  /** Decimals that are not stored yet. */
  #pending: StatedDecimals[] = []

  constructor(facts: FactStore) {
    this.#facts = facts
  }

  /** Returns the decimals that count for a mint; null if nothing states them. */
  async of(mint: Pubkey): Promise<number | null> {
    const known = CASH.of(mint)?.decimals
    if (known != null) return known
    return counting(await this.#stated(mint))
  }

  /**
   * Takes note of stated decimals, which `store` stores. Returns whether the decimals of rows that are stored may change:
   * `first` if the mint had none, `other` if it had others.
   */
  async state(stated: StatedDecimals): Promise<'first' | 'other' | null> {
    if (CASH.of(stated.mint)?.decimals != null) return null
    const before = await this.#stated(stated.mint)
    const isKnown = before.some(
      ({ decimals, isOfBlock }) => decimals === stated.decimals && isOfBlock === stated.isOfBlock
    )
    if (isKnown) return null
    const after = [...before, stated]
    this.#remember(stated.mint, after)
    this.#pending.push(stated)
    if (before.length === 0) return 'first'
    return counting(before) === counting(after) ? null : 'other'
  }

  /** Stores what was stated since the last call. */
  async store(): Promise<void> {
    if (this.#pending.length === 0) return
    await this.#facts.put('mint', this.#pending.map(factOf))
    this.#pending = []
  }

  async #stated(mint: Pubkey): Promise<readonly StatedDecimals[]> {
    const known = this.#cached.get(pubkeyMapKey(mint))
    if (known !== undefined) return known
    const facts = await this.#facts.at('mint', positionOf(mint))
    const stated = facts.map(statedIn).filter((each) => samePubkey(each.mint, mint))
    this.#remember(mint, stated)
    return stated
  }

  #remember(mint: Pubkey, stated: readonly StatedDecimals[]): void {
    // Decimals that are not stored yet must stay in memory.
    if (this.#cached.size >= CACHED_MAX && this.#pending.length === 0) this.#cached.clear()
    this.#cached.set(pubkeyMapKey(mint), stated)
  }
}

const CASH = new CashList()

function counting(stated: readonly StatedDecimals[]): number | null {
  const ofBlocks = stated.filter(({ isOfBlock }) => isOfBlock)
  const counted = ofBlocks.length > 0 ? ofBlocks : stated
  return counted.length === 0 ? null : Math.min(...counted.map(({ decimals }) => decimals))
}

const factOf = ({ mint, decimals, isOfBlock }: StatedDecimals): Fact => ({
  position: positionOf(mint),
  key: Uint8Array.of(...mint, decimals, isOfBlock ? 1 : 0),
  value: new Uint8Array(1)
})

const statedIn = ({ key }: Fact): StatedDecimals => ({
  mint: key.slice(0, 32),
  decimals: key[32]!,
  isOfBlock: key[33] === 1
})
