import { h, type JSX } from 'preact'
import { callOf } from './api.ts'
import type { Candles } from './answers.ts'
import { percent } from './format.ts'
import { useAnswer } from './use-answer.ts'

const WIDTH = 80
const HEIGHT = 28
/** Refetch interval in milliseconds; a bucket of the shortest line is a minute. */
const REFETCH_MS = 60_000

/** The course of a price as a line; its candles are one call. */
export function Sparkline({
  mint,
  interval,
  limit
}: {
  readonly mint: string
  readonly interval: string
  readonly limit: number
}): JSX.Element {
  const call = callOf('/v1/tokens/{mint}/candles', { mint }, { interval, limit, currency: 'usd' })
  const { answer } = useAnswer<Candles>(call, REFETCH_MS)
  const candles = answer?.body.data ?? []
  const closes = candles.map(({ close }) => close)
  if (closes.length < 2)
    return h('svg', { class: 'sparkline', width: WIDTH, height: HEIGHT, 'aria-hidden': 'true' })
  const low = Math.min(...closes)
  const high = Math.max(...closes)
  const first = candles[0]!
  const last = candles.at(-1)!
  const span = last.ts_ms - first.ts_ms
  const x = (ms: number): number => 1 + ((ms - first.ts_ms) / span) * (WIDTH - 2)
  const y = (price: number): number =>
    high === low ? HEIGHT / 2 : 2 + ((high - price) / (high - low)) * (HEIGHT - 4)
  const points = candles.map(({ ts_ms, close }) => `${x(ts_ms).toFixed(1)} ${y(close).toFixed(1)}`)
  const change = first.open === 0 ? 0 : (last.close / first.open - 1) * 100
  return h(
    'svg',
    {
      class: `sparkline ${change >= 0 ? 'up' : 'down'}`,
      width: WIDTH,
      height: HEIGHT,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': `Course: ${percent(change)}`
    },
    h('path', { class: 'area', d: `M${points.join('L')}L${WIDTH - 1} ${HEIGHT}L1 ${HEIGHT}Z` }),
    h('path', { class: 'line', d: `M${points.join('L')}` })
  )
}
