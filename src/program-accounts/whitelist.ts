import { ServiceError } from '../kernel/errors.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import type { Stored } from '../../storage/documents.ts'
import type { IndexedRange } from '../../storage/port.ts'
import { knownIndexes } from './known-indexes.ts'
import {
  NO_PROGRESS,
  programsIn,
  PROGRAMS_MAX,
  PROGRAMS_PARTITION,
  type MirrorProgress,
  type Program
} from './program.ts'

/** A program of the whitelist with the progress of its mirror. */
export interface ProgramStatus {
  readonly program: Program
  readonly progress: MirrorProgress
}

/** The programs whose accounts are mirrored, as stored. */
export class Whitelist {
  readonly #documents: ReturnType<typeof programsIn>

  constructor(documents: DocumentStore) {
    this.#documents = programsIn(documents)
  }

  /** Lists the programs in the order of their base58. */
  async list(): Promise<readonly ProgramStatus[]> {
    const all = await this.#documents.all(PROGRAMS_PARTITION)
    return this.#withProgress(all.filter(({ value }) => !value.isRemoved))
  }

  /** Returns a program; null if it is not on the whitelist. */
  async get(program: string): Promise<ProgramStatus | null> {
    const stored = await this.#documents.get(PROGRAMS_PARTITION, [program])
    if (stored === null || stored.value.isRemoved) return null
    const [status] = await this.#withProgress([stored])
    return status!
  }

  /**
   * Adds a program. A program that is already listed is not changed, except for its indexes if these are given.
   * Rejects with PROGRAM_LIMIT_REACHED.
   *
   * @param indexes By default the known ones of the program.
   */
  async add(
    program: string,
    nowMs: number,
    indexes?: readonly IndexedRange[]
  ): Promise<{ readonly isNew: boolean; readonly status: ProgramStatus }> {
    const all = await this.#documents.all(PROGRAMS_PARTITION)
    const before = all.find((each) => each.value.program === program)
    if (before !== undefined && !before.value.isRemoved) {
      if (indexes !== undefined)
        await this.#documents.change(before, (value) => ({ ...value, indexes: [...indexes] }))
      const status = await this.get(program)
      if (status !== null) return { isNew: false, status }
    }
    if (all.length >= PROGRAMS_MAX)
      throw new ServiceError(
        'PROGRAM_LIMIT_REACHED',
        `the whitelist has ${all.length} programs, the most that it may have`
      )
    const value: Program = {
      program,
      addedAtMs: nowMs,
      isRemoved: false,
      indexes: [...(indexes ?? knownIndexes(program))]
    }
    if (before === undefined) await this.#documents.insert(value)
    else await this.#documents.change(before, () => value)
    return { isNew: true, status: { program: value, progress: NO_PROGRESS } }
  }

  /** Removes a program from the whitelist; its accounts are deleted afterwards. Rejects with PROGRAM_NOT_FOUND. */
  async remove(program: string): Promise<void> {
    const stored = await this.#documents.get(PROGRAMS_PARTITION, [program])
    if (stored === null || stored.value.isRemoved)
      throw new ServiceError('PROGRAM_NOT_FOUND', `program ${program} is not on the whitelist`)
    await this.#documents.change(stored, (value) => (value.isRemoved ? value : { ...value, isRemoved: true }))
  }

  async #withProgress(stored: readonly Stored<Program>[]): Promise<readonly ProgramStatus[]> {
    const progress = await this.#documents.hot(stored)
    return stored.map(({ value }, i) => ({ program: value, progress: progress[i] ?? NO_PROGRESS }))
  }
}
