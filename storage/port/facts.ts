/**
 * Lists of facts, which an archive is folded from. `state`: the state of the import. `mint`: decimals of mints. `block`: decoded
 * blocks, by slot. `row`: trades of files, by slot. `timed`: trades of files without a slot, by time. `time`: slots that files
 * name without a time, and what nodes have answered about them, by slot.
 */
export const FACT_LISTS = { state: 0, mint: 1, block: 2, row: 3, timed: 4, time: 5 } as const
export type FactList = keyof typeof FACT_LISTS

/**
 * The format of facts: their keys, and the encodings of their values. Raised by every change that an earlier version would
 * misread. Format 2 has times of slots; an earlier version would fold an archive without them. Format 1 is read as it is.
 */
export const FACTS_FORMAT = 2
export const OLDEST_FACTS_FORMAT = 1

/** A fact. Position and key are its address in its list. */
export interface Fact {
  /** A whole number below 2^53, such as a slot. */
  readonly position: number
  /** From 1 to 64 bytes. */
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** Maximum bytes of a fact's value: a decoded block with 65,536 events, compressed. A server takes writes of 16 MiB. */
export const FACT_BYTES_MAX = 8 * 2 ** 20

/** Facts, sorted by position, then by key. Every method rejects with STORAGE_UNAVAILABLE when the store cannot answer. */
export interface FactStore {
  /**
   * Stores facts; each replaces one at its address. Resolves once they are durable. If it rejects, some may be stored. The
   * facts of earlier calls are durable before those of later ones.
   */
  put(list: FactList, facts: readonly Fact[]): Promise<void>
  /** The facts at a position, by key; the caller bounds their number. */
  at(list: FactList, position: number): Promise<readonly Fact[]>
  /** Yields the facts from a position on, some at a time. Facts that are put meanwhile may be missing. */
  from(list: FactList, position: number): AsyncGenerator<readonly Fact[], void>
  /** Estimates the bytes that the facts take in the store. */
  bytes(): Promise<number>
  close(): Promise<void>
}
