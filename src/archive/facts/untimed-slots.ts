import type { FactStore } from '../../../storage/port.ts'
import { positions } from './fact-groups.ts'
import { unpackRows } from './row-pack.ts'
import { unpackSlotTime, type AbsentTimeReason } from './slot-time.ts'

/** A slot that files name, and whose time nothing states. */
export interface UntimedSlot {
  readonly slot: number
  /** Why nodes gave no time when they were asked, by the node's number. */
  readonly absent: ReadonlyMap<number, AbsentTimeReason>
}

/**
 * Yields the slots before an end (null: all) that have rows and no time, ascending. Reads only slots of which a file has
 * stated no time, and those once for each import until a time is known.
 */
export async function* untimedSlots(facts: FactStore, end: number | null): AsyncGenerator<UntimedSlot, void> {
  for await (const { position, packs } of positions(facts, 'time', 0)) {
    if (end !== null && position >= end) return
    const stated = packs.map(unpackSlotTime)
    if (!stated.some(({ kind }) => kind === 'wanted')) continue
    if (stated.some(({ kind }) => kind === 'time') || !(await isUntimed(facts, position))) continue
    const absent = stated.flatMap((fact) =>
      fact.kind === 'absent' ? [[fact.node, fact.reason] as const] : []
    )
    yield { slot: position, absent: new Map(absent) }
  }
}

/** Returns whether a slot has rows, and neither a row nor a whole block states its time. */
async function isUntimed(facts: FactStore, slot: number): Promise<boolean> {
  if ((await facts.at('block', slot)).length > 0) return false
  const rows = (await facts.at('row', slot)).flatMap(unpackRows)
  return rows.length > 0 && rows.every(({ fact }) => fact.blockTime === null)
}
