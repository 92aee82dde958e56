import { useEffect, useMemo, useState } from 'preact/hooks'
import type { TradeEvent } from '../../client/client.ts'
import { answerOf, callOf, problemOf, type Answer, type Call, type Problem } from './api.ts'
import type { List, Trade } from './answers.ts'
import { useStream } from './live.ts'
import { GAP_PAGE_TRADES, useGapClosing } from './tape-gap.ts'
import { joined, newestOf, NO_FILTER, passes, TRADES_MAX, type TapeFilter } from './tape-rows.ts'

const PAGE_TRADES = 100
/** Trades that arrive together above which a tape counts as busy: about half of the visible rows. */
const BUSY_TRADES = 8

/** Listens to the trades that arrive. */
export type OnTrades = (trades: readonly Trade[]) => void

export interface Tape {
  /** Trades that pass the filter, the newest first. */
  readonly rows: readonly Trade[]
  readonly problem: Problem | null
  readonly isLoaded: boolean
  /** Returns whether a trade arrived after the first list. */
  readonly isFresh: (cursor: number) => boolean
  /** Whether so many trades arrive together that nobody can follow single ones. */
  readonly isBusy: boolean
  /** The call whose list has the rows; it explains them. */
  readonly answer: Answer<List<Trade>> | null
  readonly readOlder: () => void
  /** Repeats what has failed: the first list, or the older page. */
  readonly retry: () => void
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
  const [since, setSince] = useState<number | undefined>(undefined)
  const [live, setLive] = useState<readonly Trade[]>([])
  const [older, setOlder] = useState<readonly Trade[]>([])
  const [answer, setAnswer] = useState<Answer<List<Trade>> | null>(null)
  const [next, setNext] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isReading, setIsReading] = useState(false)
  const [isBusy, setIsBusy] = useState(false)
  /** Counts the lists: another one is read after a failure that somebody retries, and for a gap that is too large. */
  const [round, setRound] = useState(0)
  const filterText = JSON.stringify(filter)
  const isUnfiltered = filterText === JSON.stringify(NO_FILTER)

  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let timer = 0
    const read = async (): Promise<void> => {
      try {
        const found = await answerOf<List<Trade>>(callFor(of, filter, {}), signal)
        setAnswer(found)
        setOlder(found.body.data)
        setNext(found.body.nextCursor)
        setProblem(null)
        // The stream sends all trades after an empty list: one may have come since.
        if (isUnfiltered) setSince((before) => before ?? found.body.data[0]?.cursor ?? 0)
      } catch (error) {
        if (signal.aborted) return
        const failure = problemOf(error)
        setProblem(failure)
        if (failure.isTemporary) timer = window.setTimeout(() => void read(), failure.repeatMs)
      }
    }
    void read()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [identity, filterText, round])

  const add = (trades: readonly Trade[]): void => {
    setLive((before) => newestOf(joined(trades, before)))
    setIsBusy(trades.length > BUSY_TRADES)
    onTrades(trades)
  }
  const closeGap = useGapClosing({
    pageCall: (after) => callFor(of, NO_FILTER, { limit: GAP_PAGE_TRADES, after }),
    onTrades: add,
    onTooLarge: () => {
      setLive([])
      setRound((before) => before + 1)
    }
  })
  useStream([`${CHANNELS[of.kind]}:${of.address}` as const], since, (items) => {
    const trades: Trade[] = []
    const retracted = new Set<number>()
    for (const item of items) {
      if (item.kind === 'trade') trades.push(tradeOf(item.data))
      else if (item.kind === 'retract') retracted.add(item.data.of)
      else if (item.kind === 'gap') closeGap(item)
    }
    if (trades.length > 0) add(trades.toReversed())
    if (retracted.size === 0) return
    const remain = (before: readonly Trade[]): Trade[] =>
      before.filter(({ cursor }) => !retracted.has(cursor))
    setLive(remain)
    setOlder(remain)
  })

  const rows = useMemo(
    () => newestOf(joined(isUnfiltered ? live : live.filter((trade) => passes(trade, filter)), older)),
    [live, older, filterText]
  )
  const readOlder = (): void => {
    if (next === null || isReading || rows.length >= TRADES_MAX) return
    setIsReading(true)
    void answerOf<List<Trade>>(callFor(of, filter, { after: next }))
      .then(({ body }) => {
        setOlder((before) => joined(before, body.data))
        setNext(body.nextCursor)
        setProblem(null)
      })
      .catch((error: unknown) => setProblem(problemOf(error)))
      .finally(() => setIsReading(false))
  }
  return {
    rows,
    problem,
    isLoaded: answer !== null,
    isFresh: (cursor) => since !== undefined && cursor > since,
    isBusy,
    answer,
    readOlder,
    retry: () => (answer === null ? setRound((before) => before + 1) : readOlder())
  }
}

/** Returns the row of an event. Times of rows are block times; the stream states the time of ingest. */
function tradeOf({ legs, ...data }: TradeEvent['data']): Trade {
  // In JSON an optional field is absent, never undefined.
  return { ...data, ts_ms: data.block_time * 1_000 } as Trade
}
