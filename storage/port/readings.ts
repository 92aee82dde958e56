/**
 * Milliseconds for which a process may read what it has claimed: a node answers in less than a second. After a dead process,
 * another one reads that much later.
 */
export const READING_CLAIM_MS = 2_000

/** A reading of accounts that processes share. */
export interface SharedReading {
  /** Letters, digits, `-`, `_` and `:`. */
  readonly key: string
  /** Slot of the accounts. A reading replaces none of a newer slot. */
  readonly slot: number
  /** When the accounts were read, in Unix milliseconds, by the clock of the process that read them. */
  readonly readAtMs: number
  readonly text: string
}

/** A stored reading, and the milliseconds for which the server has had it. */
export interface StoredReading extends SharedReading {
  readonly ageMs: number
}

/** The answer to a claim: a process uses the stored reading, reads the accounts itself, or waits for another process. */
export interface ReadingClaim {
  readonly state: 'stored' | 'claimed' | 'elsewhere'
  /** The stored reading, of any age; null for none. */
  readonly stored: StoredReading | null
}

/**
 * Readings of accounts that one process makes and all processes of a service serve. Their number, bytes and age are bounded;
 * the oldest are evicted. All calls reject while the server is unavailable.
 */
export interface SharedReadings {
  /** Whether they can be reached. */
  readonly available: boolean
  /** Whether `subscribe` hears of changes. Otherwise a stored reading must be read again to learn of a newer one. */
  readonly notifies: boolean
  /** Claims the readings of which none is younger than `freshMs`, unless another process has claimed them. */
  claim(asks: readonly { readonly key: string; readonly freshMs: number }[]): Promise<readonly ReadingClaim[]>
  /** Stores readings, which ends their claims. Resolves with the stored reading where it is of a newer slot. */
  put(readings: readonly SharedReading[]): Promise<readonly (StoredReading | null)[]>
  /** Ends claims without a reading. */
  release(keys: readonly string[]): Promise<void>
  /** Returns stored readings, of any age; null for one that is not stored. */
  read(keys: readonly string[]): Promise<readonly (StoredReading | null)[]>
  /**
   * Calls `heard` with the keys that another process has stored, and with null if some may have been lost, until the
   * returned function is called. It must not throw.
   */
  subscribe(heard: (keys: readonly string[] | null) => void): () => void
}
