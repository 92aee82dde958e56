import type { InstructionLayout, Layout, Reading } from './layout.ts'
import type { InvocationLog } from './invocation-logs.ts'
import type { Pubkey } from './pubkey.ts'
import type { TokenAccounts } from './token-accounts.ts'
import type { Movements } from './movements.ts'
import type { Movement } from './token-movement.ts'
import type { Instruction, Transaction } from './transaction.ts'
import type { VenueTables } from './venue-tables.ts'

/** An event that a program stated through an instruction to itself. */
export interface StatedEvent {
  /** The event's bytes, beginning with its discriminator. */
  readonly bytes: Uint8Array
  readonly instruction: Instruction
}

const NO_MISFITS: ReadonlyMap<string, number> = new Map()

/**
 * One call of a venue's program: its instruction, and everything below it that belongs to no other venue's call.
 * Venues read facts from here; this class does not interpret them.
 */
export class Invocation<V extends VenueTables = VenueTables> {
  readonly transaction: Transaction
  readonly tokens: TokenAccounts
  readonly venue: V
  readonly instruction: Instruction
  /** Position in the transaction's instruction list. */
  readonly position: number
  readonly layout: InstructionLayout | undefined
  /** Positions of the instructions below that belong to no other venue's call, in execution order. */
  readonly below: number[] = []
  readonly stated: StatedEvent[] = []
  /** Calls of venues directly below, in execution order. */
  readonly nested: Invocation[] = []
  #misfits: Map<string, number> | undefined
  readonly #log: () => InvocationLog | null
  readonly #moved: Movements
  #movements: readonly Movement[] | undefined

  constructor(call: {
    transaction: Transaction
    tokens: TokenAccounts
    moved: Movements
    venue: V
    instruction: Instruction
    position: number
    log: () => InvocationLog | null
  }) {
    this.transaction = call.transaction
    this.tokens = call.tokens
    this.venue = call.venue
    this.instruction = call.instruction
    this.position = call.position
    this.#log = call.log
    this.#moved = call.moved
    this.layout = call.venue.instructions.find(call.instruction.data)
  }

  /** This call's log; null if the record has no log, or if the log does not match the instructions. */
  get log(): InvocationLog | null {
    return this.#log()
  }

  /** Bytes by layout that a body had beyond the newest known version (positive) or lacked for the oldest (negative). */
  get misfits(): ReadonlyMap<string, number> {
    return this.#misfits ?? NO_MISFITS
  }

  /** Records that a body did not fit its layout. */
  noteMisfit(layout: string, bytes: number): void {
    this.#misfits ??= new Map()
    this.#misfits.set(layout, bytes)
  }

  /** Movements below this call, in execution order. */
  get movements(): readonly Movement[] {
    return (this.#movements ??= this.#moved.atAll(this.below))
  }

  get program(): Pubkey {
    return this.transaction.keys.bytes(this.instruction.program)
  }

  get accountCount(): number {
    return this.instruction.accounts.length
  }

  /** Key index of the instruction's account at a position, -1 past its list. */
  account(position: number): number {
    return position >= 0 && position < this.instruction.accounts.length
      ? this.instruction.accounts[position]!
      : -1
  }

  /** Key of the account at a position; null past the list. */
  key(position: number): Pubkey | null {
    const index = this.account(position)
    return index < 0 ? null : this.transaction.keys.bytes(index)
  }

  /** Key index of an address; -1 when the transaction does not name it. */
  indexOf(key: Pubkey): number {
    const { keys } = this.transaction
    scan: for (let index = 0; index < keys.length; index++) {
      const candidate = keys.bytes(index)
      for (let i = 0; i < 32; i++) if (candidate[i] !== key[i]) continue scan
      return index
    }
    return -1
  }

  /** Tells whether this call's instruction has the given layout. */
  is(layout: InstructionLayout): boolean {
    return this.layout === layout
  }

  /** Reads the instruction's arguments; null if the data is shorter than the layout's oldest version. */
  args<T>(layout: Layout<T>): Reading<T> | null {
    return this.#read(layout, this.instruction.data)
  }

  /**
   * Reads the stated events (self-calls) of a layout, in order. Bodies shorter than its oldest version are left out.
   */
  statedEvents<T>(layout: Layout<T>): { value: T; drift: number; innerIndex: number | null }[] {
    const found: { value: T; drift: number; innerIndex: number | null }[] = []
    for (const { bytes, instruction } of this.stated) {
      const reading = this.#readEvent(layout, bytes)
      if (reading !== null) found.push({ ...reading, innerIndex: instruction.innerIndex })
    }
    return found
  }

  /** Reads the logged events of a layout, in order. Bodies shorter than its oldest version are left out. */
  loggedEvents<T>(layout: Layout<T>): Reading<T>[] {
    const found: Reading<T>[] = []
    for (const bytes of this.log?.data ?? []) {
      const reading = this.#readEvent(layout, bytes)
      if (reading !== null) found.push(reading)
    }
    return found
  }

  #readEvent<T>(layout: Layout<T>, bytes: Uint8Array): Reading<T> | null {
    const { discriminator } = layout
    if (bytes.length < discriminator.length) return null
    for (let i = 0; i < discriminator.length; i++) if (bytes[i] !== discriminator[i]) return null
    return this.#read(layout, bytes)
  }

  #read<T>(layout: Layout<T>, bytes: Uint8Array): Reading<T> | null {
    const reading = layout.read(bytes, layout.discriminator.length)
    const misfit = reading === null ? -bytes.length : reading.drift
    if (misfit !== 0) this.noteMisfit(layout.name, misfit)
    return reading
  }
}
