import type { GapRow } from '../port.ts'
import { FIRST_TIME } from './sample-addresses.ts'

export function sampleGap(n: number): GapRow {
  const reason = n % 2 === 0 ? 'pruned' : 'missing'
  return {
    from: n * 100,
    to: n * 100 + n,
    reason,
    detail: `no node has block ${n}`,
    atMs: FIRST_TIME * 1_000 + n
  }
}
