/** Scans of other programs after which a program without scans counts as idle. Arbitrary: far more than run at once. */
const IDLE_SCANS = 100

/** A holder of pages, which releases them when others need the memory. */
export interface PageHolder {
  forget(): void
}

interface Use {
  bytes: number
  /** Number of the last scan that used its pages. */
  lastScan: number
}

/**
 * The memory that the pages of all mirrored programs share. Pages are never evicted for those of their own program. Scans
 * run from the first account to the last, so eviction in any order would leave nothing for the next scan.
 */
export class AccountPageMemory {
  readonly bytesMax: number
  readonly #uses = new Map<PageHolder, Use>()
  #bytes = 0
  #scans = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Notes that a scan uses the pages of a holder. */
  use(holder: PageHolder): void {
    this.#useOf(holder).lastScan = ++this.#scans
  }

  /** Tells whether a holder may have more bytes. Idle holders release theirs for that. */
  hasRoom(holder: PageHolder, bytes: number): boolean {
    while (this.#bytes + bytes > this.bytesMax) {
      const idle = this.#idlest(holder)
      if (idle === null) return false
      idle.forget()
    }
    return true
  }

  /** Counts bytes of a holder; a negative number for those that it has released. */
  add(holder: PageHolder, bytes: number): void {
    this.#useOf(holder).bytes += bytes
    this.#bytes += bytes
  }

  #useOf(holder: PageHolder): Use {
    let use = this.#uses.get(holder)
    if (use === undefined) this.#uses.set(holder, (use = { bytes: 0, lastScan: this.#scans }))
    return use
  }

  #idlest(other: PageHolder): PageHolder | null {
    let found: PageHolder | null = null
    let lastScan = this.#scans - IDLE_SCANS
    for (const [holder, use] of this.#uses)
      if (holder !== other && use.bytes > 0 && use.lastScan < lastScan) {
        found = holder
        lastScan = use.lastScan
      }
    return found
  }
}
