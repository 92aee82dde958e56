import type { SlotRow } from '../market/rows.ts'
import type { Fields } from './fields.ts'

/** Returns the age of the indexed head in whole seconds; null while nothing is indexed. */
export function freshnessSeconds(head: SlotRow | null, nowMs: number): number | null {
  return head === null ? null : Math.max(0, Math.floor(nowMs / 1000) - head.blockTime)
}

/** Returns the header with the age of the newest indexed block; none while there is no block. */
export function freshnessFields(head: SlotRow | null, nowMs: number): Fields {
  const seconds = freshnessSeconds(head, nowMs)
  return seconds === null ? [] : ['x-data-freshness-seconds', String(seconds)]
}
