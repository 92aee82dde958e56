import { ByteReader } from '../../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../../storage/codec/byte-writer.ts'
import type { Fact } from '../../../storage/port.ts'
import { sealedFact, unsealed } from './sealed.ts'

/**
 * Reasons for which a node gives no time of a slot, now and later. `no-time`: it has the block and no time of it. `no-block`:
 * the chain has no block there. `not-stored`: the node does not store the slot.
 */
export const ABSENT_TIME_REASONS = ['no-time', 'no-block', 'not-stored'] as const
export type AbsentTimeReason = (typeof ABSENT_TIME_REASONS)[number]

/**
 * A fact about the time of a slot. `wanted`: a file has rows of the slot and no time. `time`: the slot's time in Unix seconds,
 * as a node states it. `absent`: a node has no time of it; `node` is the node's number (`nodeNumber`).
 */
export type SlotTimeFact =
  | { readonly kind: 'wanted' }
  | { readonly kind: 'time'; readonly time: number }
  | { readonly kind: 'absent'; readonly reason: AbsentTimeReason; readonly node: number }

const KINDS = ['wanted', 'time', 'absent'] as const

const scratch = new ByteWriter()

/** Packs a fact about the time of a slot. Equal facts of a slot have equal keys. */
export function packSlotTime(slot: number, fact: SlotTimeFact): Fact {
  scratch.clear()
  scratch.byte(KINDS.indexOf(fact.kind))
  if (fact.kind === 'time') scratch.count(fact.time)
  if (fact.kind === 'absent') {
    scratch.byte(ABSENT_TIME_REASONS.indexOf(fact.reason))
    scratch.count(fact.node)
  }
  return sealedFact(slot, scratch.take())
}

/** Returns a packed fact. Throws STORAGE_UNAVAILABLE for a damaged one. */
export function unpackSlotTime(pack: Fact): SlotTimeFact {
  const source = new ByteReader(unsealed(pack))
  const kind = KINDS[source.byte()]!
  if (kind === 'wanted') return { kind }
  if (kind === 'time') return { kind, time: source.count() }
  return { kind, reason: ABSENT_TIME_REASONS[source.byte()]!, node: source.count() }
}

/** Returns the time that nodes state for a slot; null if none does. Of different statements the earliest counts. */
export function statedTime(packs: readonly Fact[]): number | null {
  const times = packs.map(unpackSlotTime).flatMap((fact) => (fact.kind === 'time' ? fact.time : []))
  return times.length === 0 ? null : Math.min(...times)
}
