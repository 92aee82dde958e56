import { h, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bucketStart } from '../../market/buckets.ts'
import type { CandleInterval } from '../../market/rows.ts'
import { answerOf, callOf, problemOf, type Answer, type Call, type Problem } from './api.ts'
import type { Candle, Candles, Trade } from './answers.ts'
import { CandleDrawing } from './candle-drawing.ts'
import { grown, liveStart, meets, withNewer } from './candles.ts'
import { serviceNow } from './clock.ts'
import { ProblemNote } from './elements.ts'
import { amount, decimal, usd } from './format.ts'
import { isDark } from './session.ts'
import { useStore } from './store.ts'

/** Candles of the first page; a wide screen shows about 200. */
const FIRST_CANDLES = 300
const OLDER_CANDLES = 500
/** Candles of a check: the open one, and two that may have just closed. */
const CHECKED_CANDLES = 3
/** Candles left of the visible ones at which older ones are read. */
const READ_AHEAD = 30
/** Candles that are held: four screens beyond what somebody scrolls through. */
const CANDLES_MAX = 20_000
/** Shortest interval between calls for the newest candles, in milliseconds. Trades grow them in between. */
const CHECK_MS = 1_000

/** Hands trades to a chart. */
export class TradeRelay {
  #listener: ((trades: readonly Trade[]) => void) | null = null

  follow(listener: (trades: readonly Trade[]) => void): () => void {
    this.#listener = listener
    return () => {
      if (this.#listener === listener) this.#listener = null
    }
  }

  pass(trades: readonly Trade[]): void {
    this.#listener?.(trades)
  }
}

interface ChartProps {
  readonly of: { readonly kind: 'token' | 'pool'; readonly address: string }
  readonly interval: CandleInterval
  readonly currency: 'usd' | 'native'
  readonly relay: TradeRelay
  /** Called with the newest candles and their call. */
  readonly onCandles: (answer: Answer<Candles>, candles: readonly Candle[]) => void
}

function candlesCall(
  { of: { kind, address }, interval, currency }: ChartProps,
  limit: number,
  after: string | null
): Call {
  const query = { interval, currency, limit, after }
  return kind === 'token'
    ? callOf('/v1/tokens/{mint}/candles', { mint: address }, query)
    : callOf('/v1/pools/{pool}/candles', { pool: address }, query)
}

/** Candles with volume. They grow by each trade of the stream, and the newest ones are checked against REST. */
export function CandleChart(props: ChartProps): JSX.Element {
  const { of, interval, currency, relay } = props
  const box = useRef<HTMLDivElement>(null)
  const drawing = useRef<CandleDrawing | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [legend, setLegend] = useState<Candle | null>(null)
  const [isEmpty, setIsEmpty] = useState(false)
  const [archive, setArchive] = useState<string | null>(null)
  const dark = useStore(isDark)

  useEffect(() => drawing.current?.setColors(), [dark])

  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const chart = new CandleDrawing(box.current!, currency, setLegend)
    drawing.current = chart
    let candles: readonly Candle[] = []
    let first: Answer<Candles> | null = null
    let next: string | null = null
    let isReading = false
    let timer = 0
    let retry = 0

    const show = (changed: readonly Candle[], isWhole: boolean): void => {
      candles = changed.slice(-CANDLES_MAX)
      chart.show(candles, isWhole)
      setIsEmpty(candles.length === 0)
      setArchive(archiveNote(candles))
      if (first !== null) props.onCandles(first, candles)
    }
    const call = (limit: number, after: string | null = null): Promise<Answer<Candles>> =>
      answerOf<Candles>(candlesCall(props, limit, after), signal)
    const begin = async (): Promise<void> => {
      try {
        first = await call(FIRST_CANDLES)
        next = first.body.nextCursor
        setProblem(null)
        show(first.body.data, true)
        chart.fit()
      } catch (error) {
        if (signal.aborted) return
        const failure = problemOf(error)
        setProblem(failure)
        if (failure.isTemporary) retry = window.setTimeout(() => void begin(), failure.repeatMs)
      }
    }
    /** Replaces the newest candles by those of REST. */
    const check = async (): Promise<void> => {
      timer = 0
      try {
        let newest = await call(CHECKED_CANDLES)
        if (!meets(candles, newest.body.data)) newest = await call(FIRST_CANDLES)
        first = { ...newest, call: first?.call ?? newest.call }
        const isJoined = meets(candles, newest.body.data)
        // After a long outage the known candles end before the page: the older ones are read again when they are scrolled to.
        if (!isJoined) next = newest.body.nextCursor
        show(isJoined ? withNewer(candles, newest.body.data) : newest.body.data, !isJoined)
      } catch (error) {
        if (!signal.aborted) checkSoon(problemOf(error).repeatMs)
      }
    }
    const checkSoon = (ms: number): void => {
      if (timer === 0) timer = window.setTimeout(() => void check(), ms)
    }
    const readOlder = async (): Promise<void> => {
      if (next === null || isReading || candles.length >= CANDLES_MAX) return
      isReading = true
      try {
        const { body } = await call(OLDER_CANDLES, next)
        next = body.nextCursor
        show([...body.data, ...candles], true)
        setProblem(null)
      } catch (error) {
        if (!signal.aborted) setProblem(problemOf(error))
      }
      isReading = false
    }

    const unfollow = relay.follow((trades) => {
      if (first === null) return
      const { cash_mint: cash } = first.body
      const known = trades.filter(({ cash_mint: mint }) => mint === cash)
      if (known.length === 0) return
      show(grown(candles, known, interval, currency), false)
      checkSoon(CHECK_MS)
    })
    // A bucket also ends when nobody trades.
    const ticker = setInterval(() => {
      const last = candles.at(-1)
      if (
        last !== undefined &&
        !last.closed &&
        bucketStart(interval, serviceNow() / 1_000) * 1_000 > last.ts_ms
      )
        checkSoon(CHECK_MS)
    }, 2_000)
    chart.onNearStart(READ_AHEAD, () => void readOlder())
    void begin()
    return () => {
      controller.abort()
      clearTimeout(timer)
      clearTimeout(retry)
      clearInterval(ticker)
      unfollow()
      chart.remove()
      drawing.current = null
    }
  }, [of.kind, of.address, interval, currency, relay])

  const price = (value: number): string => (currency === 'usd' ? `$${decimal(value)}` : decimal(value))
  const text =
    legend === null
      ? ''
      : `${legend.ts} open ${price(legend.open)} high ${price(legend.high)} low ${price(legend.low)} close ${price(legend.close)}`
  return h(
    'div',
    { class: 'chart' },
    problem === null ? null : h(ProblemNote, { problem }),
    h(
      'div',
      { class: 'legend', 'aria-hidden': 'true' },
      legend === null
        ? null
        : [
            h('span', { key: 'time', class: 'quiet' }, legend.ts.slice(5, 16)),
            ...(['open', 'high', 'low', 'close'] as const).map((name) =>
              h(
                'span',
                { key: name },
                h('span', { class: 'quiet' }, name[0]!.toUpperCase()),
                ' ',
                price(legend[name])
              )
            ),
            h(
              'span',
              { key: 'volume' },
              h('span', { class: 'quiet' }, 'V'),
              ' ',
              legend.volume_usd === null ? amount(legend.volume_cash) : usd(legend.volume_usd)
            ),
            legend.source === 'archive' ? h('span', { key: 'archive', class: 'venue' }, 'archive') : null
          ]
    ),
    h('div', { ref: box, class: 'canvas', role: 'img', 'aria-label': `Candles of ${interval}. ${text}` }),
    isEmpty ? h('p', { class: 'note' }, 'No candle of this interval.') : null,
    archive === null ? null : h('p', { class: 'note archive-note', role: 'status' }, archive)
  )
}

/** Says which candles are from an imported archive; null if none is. */
function archiveNote(candles: readonly Candle[]): string | null {
  if (candles[0]?.source !== 'archive') return null
  const start = liveStart(candles)
  return start === null
    ? 'All of these candles are from the imported archive.'
    : `The pale candles, those before ${start.ts} UTC, are from the imported archive.`
}
