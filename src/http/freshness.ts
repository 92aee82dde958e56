import type { SlotRow } from '../market/rows.ts'
import type { Fields } from './fields.ts'

/** Whole seconds that the indexed head is behind the clock; null while nothing is indexed. */
export function freshnessSeconds(head: SlotRow | null, nowMs: number): number | null {
  return head === null ? null : Math.max(0, Math.floor(nowMs / 1000) - head.blockTime)
}

/** Says on every response how old the newest indexed block was when the request came; nothing while there is none. */
export function freshnessFields(head: SlotRow | null, nowMs: number): Fields {
  const seconds = freshnessSeconds(head, nowMs)
  return seconds === null ? [] : ['x-data-freshness-seconds', String(seconds)]
}
