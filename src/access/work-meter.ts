import { WORK_PRICES, type WorkKind } from '../kernel/work/work-units.ts'
import type { ReadCount } from './counted-reads.ts'

/** Counts what an answer really took. */
export interface WorkCount {
  /** Counts work of a kind that the declaration of the endpoint or method names. */
  count(kind: WorkKind, quantity: number): void
}

/** The work of one request; it starts at the price of a call. */
export class WorkMeter implements WorkCount, ReadCount {
  #units: number = WORK_PRICES.call
  #rowsRead = 0
  readonly #kinds: readonly WorkKind[]
  #isMade = false
  /** Units that are already charged. */
  #charged = 0
  #charge: ((units: number) => void) | null = null

  /** `kinds` are those that the endpoint declares. */
  constructor(kinds: readonly WorkKind[]) {
    this.#kinds = kinds
  }

  /** Whole units so far. */
  get units(): number {
    return Math.ceil(this.#units)
  }

  /** Tells whether the endpoint declares a kind; every endpoint has calls. */
  counts(kind: WorkKind): boolean {
    return kind === 'call' || this.#kinds.includes(kind)
  }

  /** Counts work. Throws a TypeError for an undeclared kind: its price would be in no document. */
  count(kind: WorkKind, quantity: number): void {
    if (!this.counts(kind)) throw new TypeError(`work of the kind ${kind} is not declared`)
    this.#units += WORK_PRICES[kind] * quantity
    this.#chargeRest()
  }

  /**
   * Charges the units so far, and from then on the units of each count at once. Work can outlast its answer: for example, a
   * read whose deadline has passed, or whose client has left.
   */
  chargeTo(charge: (units: number) => void): void {
    this.#charge = charge
    this.#chargeRest()
  }

  #chargeRest(): void {
    const rest = this.units - this.#charged
    if (this.#charge === null || rest <= 0) return
    this.#charged += rest
    this.#charge(rest)
  }

  /** Counts rows that the store has returned, if the endpoint declares rows. */
  countRead(rows: number): void {
    this.#rowsRead += rows
    if (this.counts('row')) this.count('row', rows)
  }

  /** Counts the rows of a list beyond those that were read for it: the others come from memory, or from a node. */
  countListed(rows: number): void {
    if (rows > this.#rowsRead) this.countRead(rows - this.#rowsRead)
  }

  /** Counts the body of an answer, unless `countBytes` has counted its bytes. */
  countPayload(payload: unknown): void {
    if (this.#isMade) return
    if (typeof payload === 'string') this.countBytes(Buffer.byteLength(payload))
    else if (Buffer.isBuffer(payload)) this.countBytes(payload.length)
  }

  /** Counts bytes of a made answer, if the endpoint declares them. */
  countBytes(bytes: number): void {
    this.#isMade = true
    if (this.counts('kibibyte')) this.count('kibibyte', bytes / 1024)
  }
}

/** Counts nothing: for work without a key. */
export const UNCOUNTED: WorkCount = { count: () => undefined }
