import type { WorkMeter } from '../../access/work-meter.ts'
import { LateRows } from './list/late-rows.ts'

/**
 * Counts the rows of a list that was made, and those that its offset skips. Rows that were read from the store are excluded:
 * they are counted already.
 */
export function countRows(
  meter: WorkMeter | undefined,
  body: unknown,
  { offset }: { readonly offset?: unknown }
): void {
  if (meter?.counts('row') !== true || typeof body !== 'object' || body === null || !('data' in body)) return
  if (Array.isArray(body.data) || body.data instanceof LateRows)
    meter.countListed(body.data.length + (typeof offset === 'number' ? offset : 0))
}
