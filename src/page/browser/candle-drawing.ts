import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  type CandlestickData,
  type HistogramData,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type Time,
  type UTCTimestamp
} from 'lightweight-charts'
import type { Candle } from './answers.ts'
import { liveStart } from './candles.ts'
import { decimal } from './format.ts'
import { isDark } from './session.ts'

const timeOf = ({ ts_ms: ms }: Candle): UTCTimestamp => (ms / 1_000) as UTCTimestamp

/** Candles and volumes on a canvas, in the colors of the style sheet. */
export class CandleDrawing {
  readonly #box: HTMLElement
  readonly #chart: IChartApi
  readonly #prices: ISeriesApi<'Candlestick'>
  readonly #volumes: ISeriesApi<'Histogram'>
  readonly #marks: ISeriesMarkersPluginApi<Time>
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
    this.#marks = createSeriesMarkers(this.#prices)
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
      this.#markLiveStart()
    }
    if (!this.#isHovered) this.#onLegend(candles.at(-1) ?? null)
  }

  /** Marks the candle at which the imported archive ends. */
  #markLiveStart(): void {
    const start = liveStart(this.#candles)
    const mark = { position: 'aboveBar', shape: 'arrowDown', text: 'archive ends' } as const
    this.#marks.setMarkers(
      start === null ? [] : [{ ...mark, time: timeOf(start), color: colorOf(this.#box, '--quiet') }]
    )
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
