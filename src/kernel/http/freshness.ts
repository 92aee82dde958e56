import type { SlotRow } from '../../market/rows.ts'
import type { AppDeps } from './deps.ts'
import type { Fields } from './fields.ts'

/**
 * Maximum slots by which an index at the node's head may be behind its node. No healthy node is 30 slots (12 s) behind, as
 * for the source's nodes (`actors/ingest/upstreams.ts`).
 */
const AT_HEAD_SLOTS = 30

type Deps = Pick<AppDeps, 'feed' | 'clock' | 'nodeHead'>

/**
 * Returns the age of the indexed data in whole seconds; null while nothing is indexed. At the node's head, the age counts
 * from the arrival of the newest block, because lagging block times of a chain are not a fault of the index. Behind the
 * head, or without a node, the age counts from the block time.
 */
export function freshnessSeconds({ feed: { head }, clock, nodeHead }: Deps): number | null {
  if (head === null) return null
  const nowMs = clock.now()
  const sinceBlock = secondsSince(head.blockTime * 1000, nowMs)
  const node = nodeHead?.() ?? null
  if (node === null || node - head.slot > AT_HEAD_SLOTS) return sinceBlock
  return Math.min(sinceBlock, secondsSince(head.receivedAtMs, nowMs))
}

/** Returns the seconds by which the newest block time is behind the clock; null before the first block. */
export function chainClockLagSeconds(head: SlotRow | null, nowMs: number): number | null {
  return head === null ? null : secondsSince(head.blockTime * 1000, nowMs)
}

/** Returns the header with the age of the indexed data; no header before the first block. */
export function freshnessFields(deps: Deps): Fields {
  const seconds = freshnessSeconds(deps)
  return seconds === null ? [] : ['x-data-freshness-seconds', String(seconds)]
}

/** Returns whole seconds; 0 for a future instant, because clocks of machines differ. */
const secondsSince = (thenMs: number, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - thenMs) / 1000))
