import { VALUE_PROGRAMS, readMovements, type Movement, type TokenAccountOpening } from './token-movement.ts'
import type { Transaction } from './transaction.ts'

const NONE: readonly Movement[] = []

/** What the instructions of a transaction moved, read when it is asked for: most of it is nobody's venue call. */
export class Movements {
  readonly #transaction: Transaction
  readonly #read: (readonly Movement[] | undefined)[] = []
  readonly #openings: TokenAccountOpening[] = []
  #all: readonly Movement[] | undefined

  constructor(transaction: Transaction) {
    this.#transaction = transaction
  }

  /** What the instruction at a position moved. */
  at(position: number): readonly Movement[] {
    return (this.#read[position] ??= this.#readAt(position))
  }

  /** What the instructions at rising positions moved, in execution order. */
  atAll(positions: Iterable<number>): readonly Movement[] {
    const movements: Movement[] = []
    for (const position of positions) for (const movement of this.at(position)) movements.push(movement)
    return movements
  }

  /** All movements, in execution order. */
  all(): readonly Movement[] {
    return (this.#all ??= this.atAll(this.#transaction.instructions.keys()))
  }

  /** The token accounts that the transaction opened. */
  openings(): readonly TokenAccountOpening[] {
    this.all()
    return this.#openings
  }

  #readAt(position: number): readonly Movement[] {
    const instruction = this.#transaction.instructions[position]!
    const program = this.#transaction.keys.lookup(instruction.program, VALUE_PROGRAMS)
    if (program === undefined) return NONE
    const movements: Movement[] = []
    readMovements(instruction, program, {
      movement: (movement) => void movements.push(movement),
      opening: (opening) => void this.#openings.push(opening)
    })
    return movements
  }
}
