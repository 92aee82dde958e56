import { useEffect, useMemo, useState } from 'preact/hooks'
import { answerOf, callOf, Problem, type Answer, type Call } from './api.ts'
import type { List, Trade } from './answers.ts'
import { useStream } from './live.ts'
import { joined, NO_FILTER, passes, type TapeFilter } from './tape-rows.ts'

/** Trades that are held; beyond them older ones are dropped, and read again when somebody scrolls there. */
const TRADES_MAX = 10_000
const PAGE_TRADES = 100
/** Pages that are read to close a gap of the stream; a larger one becomes a new list. */
const GAP_PAGES_MAX = 20
const GAP_PAGE_TRADES = 1_000

/** Listens to the trades that arrive. */
export type OnTrades = (trades: readonly Trade[]) => void

export interface Tape {
  /** Trades that pass the filter, the newest first. */
  readonly rows: readonly Trade[]
  readonly problem: Problem | null
  readonly isLoaded: boolean
  /** Returns whether a trade arrived after the first list. */
  readonly isFresh: (cursor: number) => boolean
  /** The call whose list has the rows; it explains them. */
  readonly answer: Answer<List<Trade>> | null
  readonly readOlder: () => void
}

/** The subject of a list of trades. */
export interface TapeOf {
  readonly kind: 'token' | 'pool' | 'wallet'
  readonly address: string
}

const TEMPLATES = {
  token: '/v1/tokens/{address}/trades',
  pool: '/v1/pools/{address}/trades',
  wallet: '/v1/wallets/{address}/trades'
} as const
const NAMES = { token: 'mint', pool: 'pool', wallet: 'wallet' } as const
const CHANNELS = { token: 'trades', pool: 'pool', wallet: 'wallet' } as const

/** Returns the call of a list of trades. */
export function tradesCall(
  { kind, address }: TapeOf,
  query: Readonly<Record<string, string | number | null>>
): Call {
  const name = NAMES[kind]
  return callOf(TEMPLATES[kind].replace('address', name), { [name]: address }, query)
}

const callFor = (
  of: TapeOf,
  { side, minUsd, venue }: TapeFilter,
  more: Readonly<Record<string, string | number | null>>
): Call => tradesCall(of, { side, min_usd: minUsd, venue, limit: PAGE_TRADES, ...more })

/**
 * The trades of a token, pool or wallet: a list by REST, and everything after its newest trade by the stream. The stream resumes after
 * a lost connection; what it cannot send any more is read by REST, so that no hole is left.
 */
export function useTape(of: TapeOf, filter: TapeFilter, onTrades: OnTrades): Tape {
  const identity = `${of.kind} ${of.address}`
  const [start, setStart] = useState<{ readonly identity: string; readonly since: number | null } | null>(
    null
  )
  const [live, setLive] = useState<readonly Trade[]>([])
  const [older, setOlder] = useState<readonly Trade[]>([])
  const [answer, setAnswer] = useState<Answer<List<Trade>> | null>(null)
  const [next, setNext] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isReading, setIsReading] = useState(false)
  const filterText = JSON.stringify(filter)
  const isUnfiltered = filterText === JSON.stringify(NO_FILTER)

  useEffect(() => {
    const controller = new AbortController()
    let timer = 0
    const read = async (): Promise<void> => {
      try {
        const found = await answerOf<List<Trade>>(callFor(of, filter, {}), controller.signal)
        setAnswer(found)
        setOlder(found.body.data)
        setNext(found.body.nextCursor)
        setProblem(null)
        if (isUnfiltered)
          setStart((before) => before ?? { identity, since: found.body.data[0]?.cursor ?? null })
      } catch (error) {
        if (controller.signal.aborted || !(error instanceof Problem)) return
        setProblem(error)
        timer = window.setTimeout(() => void read(), error.retryAfterMs ?? 5_000)
      }
    }
    void read()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [identity, filterText])

  const add = (trades: readonly Trade[]): void => {
    setLive((before) => joined(trades, before).slice(0, TRADES_MAX))
    onTrades(trades)
  }
  useStream([`${CHANNELS[of.kind]}:${of.address}` as const], start?.since, (items) => {
    const trades: Trade[] = []
    const retracted = new Set<number>()
    for (const item of items) {
      // Times of rows are block times; the stream states the time of ingest.
      if (item.kind === 'trade') trades.push({ ...item.data, ts_ms: item.data.block_time * 1_000 })
      else if (item.kind === 'retract') retracted.add(item.data.of)
      else if (item.kind === 'gap') void closeGap(of, item.since, item.until).then(add, () => undefined)
    }
    if (trades.length > 0) add(trades.toReversed())
    if (retracted.size === 0) return
    const remain = (before: readonly Trade[]): Trade[] =>
      before.filter(({ cursor }) => !retracted.has(cursor))
    setLive(remain)
    setOlder(remain)
  })

  const rows = useMemo(
    () => joined(isUnfiltered ? live : live.filter((trade) => passes(trade, filter)), older),
    [live, older, filterText]
  )
  return {
    rows,
    problem,
    isLoaded: answer !== null,
    isFresh: (cursor) => start !== null && cursor > (start.since ?? -1),
    answer,
    readOlder: () => {
      if (next === null || isReading || rows.length >= TRADES_MAX) return
      setIsReading(true)
      void answerOf<List<Trade>>(callFor(of, filter, { after: next }))
        .then(({ body }) => {
          setOlder((before) => joined(before, body.data))
          setNext(body.nextCursor)
        })
        .catch((error: unknown) => error instanceof Problem && setProblem(error))
        .finally(() => setIsReading(false))
    }
  }
}

/** Reads the trades after a cursor up to another, which the stream cannot send any more. */
async function closeGap(of: TapeOf, since: number, until: number | null): Promise<Trade[]> {
  const found: Trade[] = []
  let after: string | null = null
  for (let page = 0; page < GAP_PAGES_MAX; page++) {
    const { body }: Answer<List<Trade>> = await answerOf<List<Trade>>(
      callFor(of, NO_FILTER, { limit: GAP_PAGE_TRADES, after })
    )
    found.push(...body.data.filter(({ cursor }) => cursor > since && (until === null || cursor <= until)))
    const last = body.data.at(-1)
    after = body.nextCursor
    if (after === null || last === undefined || last.cursor <= since) break
  }
  return found
}
