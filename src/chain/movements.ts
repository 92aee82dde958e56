import { VALUE_PROGRAMS, readMovements, type Movement, type TokenAccountOpening } from './token-movement.ts'
import type { Transaction } from './transaction.ts'

const NONE: readonly Movement[] = []

/** The movements of a transaction, by instruction. Read on demand, because most instructions are in no venue's call. */
export class Movements {
  readonly #transaction: Transaction
  readonly #read: (readonly Movement[] | undefined)[] = []
  readonly #openings: TokenAccountOpening[] = []
  #all: readonly Movement[] | undefined

  constructor(transaction: Transaction) {
    this.#transaction = transaction
  }

  /** Returns the movements of the instruction at a position. */
  at(position: number): readonly Movement[] {
    return (this.#read[position] ??= this.#readAt(position))
  }

  /** Returns the movements of the instructions at ascending positions, in execution order. */
  atAll(positions: Iterable<number>): readonly Movement[] {
    const movements: Movement[] = []
    for (const position of positions) for (const movement of this.at(position)) movements.push(movement)
    return movements
  }

  /** Returns all movements, in execution order. */
  all(): readonly Movement[] {
    return (this.#all ??= this.atAll(this.#transaction.instructions.keys()))
  }

  /** Returns the token accounts that the transaction opened. */
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
