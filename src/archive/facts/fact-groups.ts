import type { Fact, FactList, FactStore } from '../../../storage/port.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import type { ArchivedRow } from './archived-row.ts'
import { chosenBlock, type ArchivedBlock } from './block-pack.ts'
import { unpackRows } from './row-pack.ts'
import { statedTime } from './slot-time.ts'

/** All facts of a slot. */
export interface SlotFacts {
  readonly slot: number
  /** The block that counts; null if only files have the slot. */
  readonly whole: ArchivedBlock | null
  readonly rows: readonly ArchivedRow[]
  /** The time that a node states, in Unix seconds; null if none was asked, or none has it. */
  readonly time: number | null
}

/**
 * Maximum packs of a position, which are in memory at once: 65,536 rows, as many trades as have cursors in a slot, in packs
 * of a few rows, from several files.
 */
const PACKS_MAX = 50_000

/** Yields the facts of each slot from a slot on, ascending. */
export async function* slotFacts(facts: FactStore, from: number): AsyncGenerator<SlotFacts, void> {
  const blocks = positions(facts, 'block', from)
  const rows = positions(facts, 'row', from)
  const times = positions(facts, 'time', from)
  try {
    let [block, packs, time] = [await taken(blocks), await taken(rows), await taken(times)]
    while (block !== null || packs !== null) {
      const slot = Math.min(block?.position ?? Infinity, packs?.position ?? Infinity)
      const isBlock = block?.position === slot
      const isRows = packs?.position === slot
      while (time !== null && time.position < slot) time = await taken(times)
      yield {
        slot,
        whole: isBlock ? chosenBlock(block!.packs) : null,
        rows: isRows ? packs!.packs.flatMap(unpackRows) : [],
        time: time?.position === slot ? statedTime(time.packs) : null
      }
      if (isBlock) block = await taken(blocks)
      if (isRows) packs = await taken(rows)
    }
  } finally {
    await Promise.all([blocks.return(), rows.return(), times.return()])
  }
}

/** Yields the trades without a slot of each second, ascending. */
export async function* timedRows(
  facts: FactStore
): AsyncGenerator<{ readonly time: number; readonly rows: readonly ArchivedRow[] }, void> {
  for await (const { position, packs } of positions(facts, 'timed', 0))
    yield { time: position, rows: packs.flatMap(unpackRows) }
}

/** All facts at a position of a list. */
interface Position {
  readonly position: number
  readonly packs: readonly Fact[]
}

/** Yields the facts of each position of a list from one on, ascending. */
export async function* positions(
  facts: FactStore,
  list: FactList,
  from: number
): AsyncGenerator<Position, void> {
  let packs: Fact[] = []
  for await (const chunk of facts.from(list, from))
    for (const fact of chunk) {
      const [first] = packs
      if (first !== undefined && first.position !== fact.position) {
        yield { position: first.position, packs }
        packs = []
      }
      packs.push(fact)
      if (packs.length > PACKS_MAX)
        throw new ServiceError(
          ERRORS.STORAGE_UNAVAILABLE,
          `the archive has more than ${PACKS_MAX} packs of rows at ${fact.position}, which cannot be sorted in memory`
        )
    }
  const [first] = packs
  if (first !== undefined) yield { position: first.position, packs }
}

/** Takes the next value; null at the end. */
export async function taken<T>(values: AsyncGenerator<T, void>): Promise<T | null> {
  const { value } = await values.next()
  return value ?? null
}
