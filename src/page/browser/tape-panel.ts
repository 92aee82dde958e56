import { h, type JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Trade } from './answers.ts'
import { serviceNow } from './clock.ts'
import { AddressLink, Age, Choice, Panel } from './elements.ts'
import { Value, type Origin } from './explain.ts'
import { amount, count, decimal, usd, usdPrice } from './format.ts'
import { NO_FILTER, type TapeFilter } from './tape-rows.ts'
import { tradesCall, useTape, type OnTrades, type TapeOf } from './trade-tape.ts'
import { VirtualRows } from './virtual-rows.ts'

const ROW_HEIGHT = 30
const SIDES = ['all', 'buys', 'sells'] as const
const SIZES = ['any', '$100', '$1K', '$10K'] as const
const SIZE_USD = { any: null, $100: 100, $1K: 1_000, $10K: 10_000 } as const

const HEAD = [
  { name: 'Age', class: 'age' },
  { name: 'Side', class: 'side' },
  { name: 'Value', class: 'number' },
  { name: 'Amount', class: 'number wide' },
  { name: 'Price', class: 'number' },
  { name: 'Trader', class: 'mono-cell' },
  { name: 'Venue', class: 'wide venue-cell' },
  { name: 'Tx', class: 'wide mono-cell' }
] as const

const WALLET_HEAD = HEAD.map((column) => (column.name === 'Trader' ? { ...column, name: 'Token' } : column))

interface TapePanelProps {
  readonly of: TapeOf
  readonly venues: readonly string[]
  readonly onTrades: OnTrades
  /** Called with all rows that are shown. */
  readonly onRows?: (rows: readonly Trade[]) => void
}

/** The trades of a token or pool as they come, with filters, and back to the first one. */
export function TapePanel({ of, venues, onTrades, onRows }: TapePanelProps): JSX.Element {
  const [side, setSide] = useState<(typeof SIDES)[number]>('all')
  const [size, setSize] = useState<(typeof SIZES)[number]>('any')
  const [venue, setVenue] = useState('')
  const filter: TapeFilter = {
    side: side === 'all' ? null : side === 'buys' ? 'buy' : 'sell',
    minUsd: SIZE_USD[size],
    venue: venue === '' ? null : venue
  }
  const tape = useTape(of, side === 'all' && size === 'any' && venue === '' ? NO_FILTER : filter, onTrades)
  useEffect(() => onRows?.(tape.rows), [tape.rows])
  return h(
    Panel,
    {
      title: 'Trades',
      id: 'tape-title',
      class: tape.isBusy ? 'tape busy' : 'tape',
      problem: tape.problem,
      isLoading: !tape.isLoaded,
      onRetry: tape.retry,
      tools: [
        h(Choice<(typeof SIDES)[number]>, {
          key: 'side',
          name: 'Side',
          options: SIDES,
          chosen: side,
          onChoose: setSide
        }),
        h(Choice<(typeof SIZES)[number]>, {
          key: 'size',
          name: 'Smallest value',
          options: SIZES,
          chosen: size,
          onChoose: setSize
        }),
        venues.length < 2
          ? null
          : h(
              'select',
              {
                key: 'venue',
                'aria-label': 'Venue',
                value: venue,
                onChange: (event: Event) => setVenue((event.currentTarget as HTMLSelectElement).value)
              },
              h('option', { value: '' }, 'all venues'),
              venues.map((name) => h('option', { key: name, value: name }, name))
            ),
        h('span', { key: 'count', class: 'note', role: 'status' }, `${count(tape.rows.length)} shown`)
      ]
    },
    tape.rows.length === 0 && tape.isLoaded
      ? h('p', { class: 'note' }, 'No trade passes these filters.')
      : h(VirtualRows<Trade>, {
          name: 'Trades, newest first',
          head: of.kind === 'wallet' ? WALLET_HEAD : HEAD,
          rows: tape.rows,
          rowHeight: ROW_HEIGHT,
          keyOf: ({ cursor }) => cursor,
          classOf: ({ event, cursor }) => `${event} ${tape.isFresh(cursor) ? 'fresh' : ''}`,
          cells: (trade) => cellsOf(trade, of),
          onEnd: tape.readOlder
        })
  )
}

/** Returns the origins of a trade's fields: the shortest list that has it, with its slot and transaction. */
export function tradeOrigin(trade: Trade, of: TapeOf) {
  const call = tradesCall(of, { from: trade.block_time, to: trade.block_time + 1 })
  return (field: keyof Trade): Origin => ({
    call,
    field: `data[].${field}`,
    value: trade[field],
    receivedAtMs: serviceNow(),
    slot: trade.slot,
    signature: trade.signature
  })
}

function cellsOf(trade: Trade, of: TapeOf): JSX.Element[] {
  const from = tradeOrigin(trade, of)
  const { event, amount_usd: worth, cash_amount: cash, cash_symbol: symbol, price, price_usd: inUsd } = trade
  return [
    h(Value, { from: from('ts'), class: 'quiet' }, h(Age, { ms: trade.ts_ms })),
    h('span', { class: event === 'buy' ? 'up' : event === 'sell' ? 'down' : 'quiet' }, event),
    h(
      Value,
      { from: from(worth === null ? 'cash_amount' : 'amount_usd'), isStop: false },
      worth === null ? `${amount(cash)} ${symbol ?? ''}` : usd(worth)
    ),
    h(Value, { from: from('token_amount'), isStop: false }, amount(trade.token_amount)),
    h(
      Value,
      { from: from(inUsd === null ? 'price' : 'price_usd'), isStop: false },
      inUsd === null ? decimal(price) : usdPrice(inUsd)
    ),
    of.kind === 'wallet'
      ? h(AddressLink, { view: 'token', address: trade.mint, isStop: false })
      : trade.trader === null
        ? h('span', null)
        : h(AddressLink, { view: 'wallet', address: trade.trader, isStop: false }),
    trade.pool === null
      ? h('span', null, trade.venue)
      : h(AddressLink, { view: 'pool', address: trade.pool, text: trade.venue, isStop: false }),
    h(AddressLink, { view: 'tx', address: trade.signature, isStop: false })
  ]
}
