import {
  CandlestickSeries,
  createChart,
  HistogramSeries,
  type CandlestickData,
  type HistogramData,
  type IChartApi,
  type ISeriesApi,
  type UTCTimestamp
} from 'lightweight-charts'
import { h, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { answerOf, callOf, Problem, type Answer, type Call } from './api.ts'
import type { Candle, Candles, Trade } from './answers.ts'
import { bucketOf, grown, withNewer, type Interval } from './candles.ts'
import { serviceNow } from './clock.ts'
import { ProblemNote } from './elements.ts'
import { amount, decimal, usd } from './format.ts'
import { isDark } from './session.ts'
import { useStore } from './store.ts'

/** Candles of the first page; a wide screen shows about 200. */
const FIRST_CANDLES = 300
const OLDER_CANDLES = 500
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
  readonly interval: Interval
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
  const drawing = useRef<Drawing | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [legend, setLegend] = useState<Candle | null>(null)
  const [isEmpty, setIsEmpty] = useState(false)
  const [hasArchive, setHasArchive] = useState(false)
  const dark = useStore(isDark)

  useEffect(() => drawing.current?.setColors(), [dark])

  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const chart = new Drawing(box.current!, currency, setLegend)
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
      setHasArchive(candles[0]?.source === 'archive')
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
        if (signal.aborted || !(error instanceof Problem)) return
        setProblem(error)
        if (error.status === 0 || error.status >= 429)
          retry = window.setTimeout(() => void begin(), error.retryAfterMs ?? 5_000)
      }
    }
    /** Replaces the newest candles by those of REST. */
    const check = async (): Promise<void> => {
      timer = 0
      try {
        const newest = await call(3)
        first = { ...newest, call: first?.call ?? newest.call }
        show(withNewer(candles, newest.body.data), false)
      } catch {
        if (!signal.aborted) checkSoon(5_000)
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
      } catch (error) {
        if (!signal.aborted && error instanceof Problem) setProblem(error)
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
      if (last !== undefined && !last.closed && bucketOf(serviceNow(), interval) > last.ts_ms)
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
    hasArchive ? h('p', { class: 'note' }, 'Pale candles are from the imported archive.') : null
  )
}

const timeOf = ({ ts_ms: ms }: Candle): UTCTimestamp => (ms / 1_000) as UTCTimestamp

/** The drawn chart. */
class Drawing {
  readonly #box: HTMLElement
  readonly #chart: IChartApi
  readonly #prices: ISeriesApi<'Candlestick'>
  readonly #volumes: ISeriesApi<'Histogram'>
  readonly #onLegend: (candle: Candle | null) => void
  #candles: readonly Candle[] = []
  #isHovered = false
  readonly #sign: string

  constructor(box: HTMLElement, currency: 'usd' | 'native', onLegend: (candle: Candle | null) => void) {
    this.#box = box
    this.#onLegend = onLegend
    this.#sign = currency === 'usd' ? '$' : ''
    this.#chart = createChart(box, {
      autoSize: true,
      // The logo inserts a style, which the page's policy forbids; the foot of the page names the makers.
      layout: { attributionLogo: false },
      localization: { priceFormatter: (price: number) => this.#text(price) },
      timeScale: { timeVisible: true, secondsVisible: false, rightOffset: 4 }
    })
    this.#prices = this.#chart.addSeries(CandlestickSeries, {
      priceFormat: { type: 'custom', minMove: 1e-12, formatter: (price: number) => this.#text(price) }
    })
    this.#volumes = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: '',
      priceFormat: { type: 'volume' },
      lastValueVisible: false,
      priceLineVisible: false
    })
    this.#volumes.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } })
    this.#prices.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: 0.22 } })
    this.#chart.subscribeCrosshairMove(({ time }) => {
      this.#isHovered = time !== undefined
      const candle = time === undefined ? undefined : this.#candles.find((each) => timeOf(each) === time)
      onLegend(candle ?? this.#candles.at(-1) ?? null)
    })
    this.setColors()
  }

  /** Draws candles; only the newest of them have changed unless `isWhole`. */
  show(candles: readonly Candle[], isWhole: boolean): void {
    const before = this.#candles
    this.#candles = candles
    const isGrown =
      !isWhole &&
      before.length > 0 &&
      candles.length >= before.length &&
      candles[0]!.ts_ms === before[0]!.ts_ms
    if (isGrown) {
      for (let at = Math.max(0, before.length - 3); at < candles.length; at++) {
        if (candles[at] === before[at]) continue
        const isLast = at >= before.length - 1
        this.#prices.update(this.#bar(candles[at]!), !isLast)
        this.#volumes.update(this.#volume(candles[at]!), !isLast)
      }
    } else {
      this.#prices.setData(candles.map((candle) => this.#bar(candle)))
      this.#volumes.setData(candles.map((candle) => this.#volume(candle)))
    }
    if (!this.#isHovered) this.#onLegend(candles.at(-1) ?? null)
  }

  fit(): void {
    const shown = Math.max(30, Math.min(140, Math.floor(this.#box.clientWidth / 7)))
    const { length } = this.#candles
    this.#chart.timeScale().setVisibleLogicalRange({ from: length - shown, to: length + 3 })
  }

  onNearStart(candles: number, act: () => void): void {
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      if (range !== null && range.from < candles && this.#candles.length > 0) act()
    })
  }

  setColors(): void {
    const color = (name: string): string => colorOf(this.#box, name)
    const [up, down, text, line] = [color('--up'), color('--down'), color('--quiet'), color('--line')]
    this.#chart.applyOptions({
      layout: { background: { color: 'transparent' }, textColor: text, fontFamily: 'system-ui, sans-serif' },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      rightPriceScale: { borderColor: line },
      timeScale: { borderColor: line }
    })
    this.#prices.applyOptions({
      upColor: up,
      downColor: down,
      wickUpColor: up,
      wickDownColor: down,
      borderVisible: false
    })
    this.show(this.#candles, true)
  }

  remove(): void {
    this.#chart.remove()
  }

  /** The text of a price; the scale reaches below zero, and its zero has the rounding of its steps. */
  #text(price: number): string {
    if (price < 0) return ''
    return Math.abs(price) < (this.#candles.at(-1)?.close ?? 0) * 1e-6
      ? '0'
      : `${this.#sign}${decimal(price)}`
  }

  #bar(candle: Candle): CandlestickData {
    const { open, high, low, close } = candle
    const pale =
      candle.source === 'archive'
        ? { color: colorOf(this.#box, '--quiet'), wickColor: colorOf(this.#box, '--quiet') }
        : {}
    return { time: timeOf(candle), open, high, low, close, ...pale }
  }

  #volume(candle: Candle): HistogramData {
    const color = colorOf(this.#box, candle.close >= candle.open ? '--up-soft' : '--down-soft')
    return { time: timeOf(candle), value: candle.volume_usd ?? candle.volume_cash, color }
  }
}

const colors = new Map<string, string>()
let colorsAreDark: boolean | null = null

/** Returns a color of the style sheet as the canvas needs it. */
function colorOf(box: HTMLElement, name: string): string {
  if (colorsAreDark !== isDark.value) colors.clear()
  colorsAreDark = isDark.value
  const known = colors.get(name)
  if (known !== undefined) return known
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  box.append(probe)
  const color = getComputedStyle(probe).color
  probe.remove()
  colors.set(name, color)
  return color
}
