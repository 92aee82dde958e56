import type { WorkMeter } from '../access/work-meter.ts'

/** Counts the rows of a list that was made, and those that its offset passes over: they are read too. */
export function countRows(
  meter: WorkMeter | undefined,
  body: unknown,
  { offset }: { readonly offset?: unknown }
): void {
  if (meter?.counts('row') !== true || typeof body !== 'object' || body === null || !('data' in body)) return
  if (Array.isArray(body.data))
    meter.count('row', body.data.length + (typeof offset === 'number' ? offset : 0))
}
