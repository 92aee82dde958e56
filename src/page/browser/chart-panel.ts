import { h, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { CandleInterval } from '../../market/rows.ts'
import type { Answer } from './api.ts'
import type { Candle, Candles } from './answers.ts'
import { CandleChart, type TradeRelay } from './candle-chart.ts'
import { INTERVALS } from './candles.ts'
import { Choice, Table } from './elements.ts'
import { originsOf, Value } from './explain.ts'
import { count, decimal, usd } from './format.ts'
import { place, setOptions } from './place.ts'

const CURRENCIES = ['USD', 'native'] as const
/** Candles of the table below the chart, which screen readers and the explanation of numbers use. */
const TABLE_ROWS = 20

interface ChartPanelProps {
  readonly of: { readonly kind: 'token' | 'pool'; readonly address: string }
  readonly relay: TradeRelay
}

/** Candles in every interval, in USD or in the cash of the pair, and the newest of them as a table. */
export function ChartPanel({ of, relay }: ChartPanelProps): JSX.Element {
  const asked = place.value.options
  const [interval, setInterval] = useState<CandleInterval>(
    INTERVALS.find((name) => name === asked.get('interval')) ?? '1m'
  )
  const [currency, setCurrency] = useState<(typeof CURRENCIES)[number]>(
    asked.get('currency') === 'native' ? 'native' : 'USD'
  )
  const [isOpen, setIsOpen] = useState(false)
  const [newest, setNewest] = useState<{
    readonly answer: Answer<Candles>
    readonly candles: readonly Candle[]
  } | null>(null)
  return h(
    'section',
    { class: 'panel chart-panel', 'aria-label': 'Chart' },
    h(
      'header',
      { class: 'panel-head' },
      h(Choice<CandleInterval>, {
        name: 'Interval',
        options: INTERVALS,
        chosen: interval,
        onChoose: (chosen) => {
          setInterval(chosen)
          setOptions({ interval: chosen })
        }
      }),
      h(Choice<(typeof CURRENCIES)[number]>, {
        name: 'Currency',
        options: CURRENCIES,
        chosen: currency,
        onChoose: (chosen) => {
          setCurrency(chosen)
          setOptions({ currency: chosen })
        }
      })
    ),
    h(CandleChart, {
      of,
      interval,
      currency: currency === 'USD' ? 'usd' : 'native',
      relay,
      onCandles: (answer, candles) => setNewest({ answer, candles: candles.slice(-TABLE_ROWS) })
    }),
    h(
      'details',
      {
        class: 'candle-table',
        onToggle: (event: Event) => setIsOpen((event.currentTarget as HTMLDetailsElement).open)
      },
      h('summary', null, 'The newest candles as a table'),
      isOpen && newest !== null ? h(CandleTable, newest) : null
    )
  )
}

function CandleTable({
  answer,
  candles
}: {
  readonly answer: Answer<Candles>
  readonly candles: readonly Candle[]
}): JSX.Element {
  const from = originsOf(answer)
  const cell = (
    field: 'open' | 'high' | 'low' | 'close' | 'volume_usd' | 'trades',
    text: (value: number | null) => string
  ) => ({
    name: field === 'volume_usd' ? 'volume' : field,
    isNumber: true,
    cell: (candle: Candle) =>
      h(
        Value,
        { from: from(`data[].${field}`, candle[field]), isStop: field === 'close' },
        h('data', { value: String(candle[field]) }, text(candle[field]))
      )
  })
  return h(Table<Candle>, {
    name: 'Candles, newest first',
    columns: [
      { name: 'Bucket (UTC)', cell: (candle) => candle.ts },
      cell('open', decimal),
      cell('high', decimal),
      cell('low', decimal),
      cell('close', decimal),
      cell('volume_usd', usd),
      cell('trades', count),
      { name: '', cell: (candle) => (candle.source === 'archive' ? 'archive' : candle.closed ? '' : 'open') }
    ],
    rows: candles.toReversed(),
    keyOf: ({ ts_ms: ms }) => ms,
    empty: 'No candle of this interval.'
  })
}
