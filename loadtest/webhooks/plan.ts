import { cursorAt } from '../../src/market/cursor.ts'
import { FIRST_SLOT } from '../stream/trades.ts'

/** Cursor positions that a trade occupies in its slot. */
const COPIES = 4

/** A webhook of the load: channels `first` up to `first + count`, with `burst` events each in every block. */
export interface Plan {
  readonly n: number
  readonly first: number
  readonly count: number
  readonly burst: number
}

/** Returns the path that contains the expectation for the receiver. */
export const pathOf = ({ n, first, count, burst }: Plan): string => `/${n}/${first}/${count}/${burst}`

/** Returns the webhook of a path; null for the bare loop's, whose bodies are repeated. */
export function planOf(path: string): Plan | null {
  const [n, first, count, burst] = path.slice(1).split('/').map(Number)
  return Number.isNaN(n) ? null : { n: n!, first: first!, count: count!, burst: burst! }
}

/** Returns the cursor of the i-th event of a webhook. */
export function expectedCursor({ first, count, burst }: Plan, i: number): number {
  const each = count * burst
  return cursorAt(FIRST_SLOT + Math.floor(i / each), (first * burst + (i % each)) * COPIES)
}

/** Path of the bare loop's POSTs. */
export const BARE_PATH = '/bare'
