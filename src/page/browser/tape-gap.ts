import { useEffect, useState } from 'preact/hooks'
import { answerOf, problemOf, type Answer, type Call } from './api.ts'
import type { List, Trade } from './answers.ts'

/** Rows of a page that is read to close a gap, and the maximum number of such pages. */
export const GAP_PAGE_TRADES = 1_000
const GAP_PAGES_MAX = 20

/** Cursors between which the stream cannot send trades any more; `until` null reaches to the newest trade. */
export interface TapeGap {
  readonly since: number
  readonly until: number | null
}

/** Returns the smallest gap that contains two gaps. */
export function widestGap(a: TapeGap | null, b: TapeGap): TapeGap {
  if (a === null) return b
  const until = a.until === null || b.until === null ? null : Math.max(a.until, b.until)
  return { since: Math.min(a.since, b.since), until }
}

interface GapClosing {
  /** Returns the call of a page of the unfiltered list. */
  readonly pageCall: (after: string | null) => Call
  readonly onTrades: (trades: readonly Trade[]) => void
  /** The gap is too large to be read; the tape needs a new list. */
  readonly onTooLarge: () => void
}

/** Returns a function that reads the trades of gaps by REST. A failed read is repeated until the gap is closed. */
export function useGapClosing(closing: GapClosing): (gap: TapeGap) => void {
  const [gap, setGap] = useState<TapeGap | null>(null)
  useEffect(() => {
    if (gap === null) return undefined
    const controller = new AbortController()
    const { signal } = controller
    let timer = 0
    const close = async (): Promise<void> => {
      try {
        const trades = await tradesOf(gap, closing, signal)
        if (signal.aborted) return
        setGap(null)
        if (trades === null) closing.onTooLarge()
        else closing.onTrades(trades)
      } catch (error) {
        if (!signal.aborted) timer = window.setTimeout(() => void close(), problemOf(error).repeatMs)
      }
    }
    void close()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [gap])
  return (found) => setGap((before) => widestGap(before, found))
}

/** Reads the trades of a gap, the newest first; null if they are more than the maximum. */
async function tradesOf(
  { since, until }: TapeGap,
  { pageCall }: GapClosing,
  signal: AbortSignal
): Promise<Trade[] | null> {
  const found: Trade[] = []
  let after: string | null = null
  for (let page = 0; page < GAP_PAGES_MAX; page++) {
    const { body }: Answer<List<Trade>> = await answerOf<List<Trade>>(pageCall(after), signal)
    found.push(...body.data.filter(({ cursor }) => cursor > since && (until === null || cursor <= until)))
    const last = body.data.at(-1)
    after = body.nextCursor
    if (after === null || last === undefined || last.cursor <= since) return found
  }
  return null
}
