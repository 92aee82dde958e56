import { h, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callOf } from '../api.ts'
import type { Launch, List, Stats, TrendingItem } from '../answers.ts'
import { CountUp } from '../count-up.ts'
import { AddressLink, Age, Change, Choice, Panel, Table, TokenName, type Column } from '../elements.ts'
import { originsOf, Value } from '../explain.ts'
import { count, usd, usdPrice } from '../format.ts'
import { useStream } from '../live.ts'
import { place, setOptions } from '../place.ts'
import { Sparkline } from '../sparkline.ts'
import { useAnswer } from '../use-answer.ts'

const WINDOWS = ['1h', '4h', '24h'] as const
type Window = (typeof WINDOWS)[number]
/** Candles of the small line beside a token: a pixel or two each. */
const LINES = {
  '1h': { interval: '1m', limit: 60 },
  '4h': { interval: '5m', limit: 48 },
  '24h': { interval: '30m', limit: 48 }
} as const
/** Refetch intervals in milliseconds: a block comes every 400 ms, and an answer that has not changed costs a lookup. */
const STATS_MS = 2_000
const TRENDING_MS = 4_000
const LAUNCHES_MAX = 40

/** The whole market: what trades, what is launched, what graduates. */
export function Market(): JSX.Element {
  return h(
    'div',
    { class: 'view market' },
    h('h1', { class: 'hidden' }, 'Market'),
    h(Tiles, null),
    h(
      'div',
      { class: 'columns' },
      h('div', { class: 'main-column' }, h(Trending, null)),
      h('div', { class: 'side-column' }, h(Launches, null), h(Graduations, null))
    )
  )
}

function Tiles(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Stats>(callOf('/v1/stats'), STATS_MS)
  if (answer === null)
    return h(Panel, {
      title: 'Market',
      id: 'stats-title',
      class: 'stats',
      problem,
      isLoading: true,
      onRetry: refetch
    })
  const from = originsOf(answer)
  const { sol_price_usd: sol, windows, totals } = answer.body
  const hour = windows['1h']
  const day = windows['24h']
  const tile = (name: string, value: JSX.Element, more: JSX.Element | null = null): JSX.Element =>
    h('div', { class: 'tile', key: name }, h('dt', null, name), h('dd', null, value, more))
  const moving = (field: string, value: number | null, text: (value: number) => string): JSX.Element =>
    h(Value, { from: from(field, value) }, value === null ? '–' : h(CountUp, { value, text }))
  return h(
    'section',
    { class: 'stats', 'aria-label': 'The whole market' },
    h(
      'dl',
      { class: 'tiles' },
      tile('SOL', h(Value, { from: from('sol_price_usd', sol) }, usdPrice(sol))),
      tile(
        'Volume 1 h',
        moving('windows.1h.volume_usd', hour.volume_usd, usd),
        h(Change, { pct: hour.volume_usd_change_pct })
      ),
      tile(
        'Trades 1 h',
        moving('windows.1h.trades', hour.trades, count),
        h(Change, { pct: hour.trades_change_pct })
      ),
      tile('Volume 24 h', moving('windows.24h.volume_usd', day.volume_usd, usd)),
      tile('Traders 24 h', moving('windows.24h.traders', day.traders, count)),
      tile('Tokens traded 24 h', moving('windows.24h.active_tokens', day.active_tokens, count)),
      tile('Launches 24 h', moving('windows.24h.launches', day.launches, count)),
      tile('Trades indexed', moving('totals.trades', totals.trades, count))
    ),
    problem === null
      ? null
      : h('p', { class: 'problem', role: 'status' }, `${problem.title}: ${problem.message}`)
  )
}

function Trending(): JSX.Element {
  const asked = place.value.options.get('window')
  const [window, setWindow] = useState<Window>(WINDOWS.find((name) => name === asked) ?? '1h')
  const [hasCash, setHasCash] = useState(false)
  const { answer, problem, refetch } = useAnswer<List<TrendingItem>>(
    callOf('/v1/trending', {}, { window, limit: 30, exclude_cash: !hasCash }),
    TRENDING_MS
  )
  const choose = (chosen: Window): void => {
    setWindow(chosen)
    setOptions({ window: chosen })
  }
  const rows = answer?.body.data ?? []
  const from = answer === null ? null : originsOf(answer)
  const largest = Math.max(1, ...rows.map(({ volume_usd: volume }) => volume ?? 0))
  const value = (field: keyof TrendingItem, row: TrendingItem, text: string, isStop = false): JSX.Element =>
    h(Value, { from: from!(`data[].${field}`, row[field]), isStop }, text)
  const columns: readonly Column<TrendingItem>[] = [
    { name: '#', isNumber: true, isWide: true, cell: ({ rank }) => h('span', { class: 'quiet' }, rank) },
    { name: 'Token', cell: ({ mint, symbol, name }) => h(TokenName, { mint, symbol, name }) },
    { name: 'Price', isNumber: true, cell: (row) => value('price_usd', row, usdPrice(row.price_usd), true) },
    { name: 'Change', isNumber: true, cell: (row) => h(Change, { pct: row.price_change_pct }) },
    { name: window, isWide: true, cell: ({ mint }) => h(Sparkline, { mint, ...LINES[window] }) },
    {
      name: 'Volume',
      isNumber: true,
      cell: (row) =>
        h(
          'div',
          { class: 'with-bar' },
          value('volume_usd', row, usd(row.volume_usd)),
          h('div', { class: 'under-bar', style: { width: `${((row.volume_usd ?? 0) / largest) * 100}%` } })
        )
    },
    {
      name: 'Market cap',
      isNumber: true,
      isWide: true,
      cell: (row) => value('market_cap_usd', row, usd(row.market_cap_usd))
    },
    {
      name: 'Liquidity',
      isNumber: true,
      isWide: true,
      cell: (row) => value('liquidity_usd', row, usd(row.liquidity_usd))
    },
    { name: 'Trades', isNumber: true, isWide: true, cell: (row) => value('trades', row, count(row.trades)) },
    {
      name: 'Traders',
      isNumber: true,
      isWide: true,
      cell: (row) => value('traders', row, count(row.traders))
    }
  ]
  return h(
    Panel,
    {
      title: 'Trending',
      id: 'trending-title',
      problem,
      isLoading: answer === null,
      onRetry: refetch,
      tools: [
        h(Choice<Window>, {
          key: 'window',
          name: 'Window',
          options: WINDOWS,
          chosen: window,
          onChoose: choose
        }),
        h(
          'label',
          { key: 'cash', class: 'check' },
          h('input', { type: 'checkbox', checked: hasCash, onChange: () => setHasCash(!hasCash) }),
          'SOL and dollars'
        )
      ]
    },
    h(Table<TrendingItem>, {
      name: 'Trending tokens',
      columns,
      rows,
      keyOf: ({ mint }) => mint,
      empty: 'No token has traded in this window.'
    })
  )
}

/** A launch of the list or of the stream, which lacks the status. */
type AnyLaunch = Omit<Launch, 'status' | 'source'> & Partial<Pick<Launch, 'status'>>

function Launches(): JSX.Element {
  const call = callOf('/v1/launches', {}, { limit: LAUNCHES_MAX })
  const { answer, problem, refetch } = useAnswer<List<Launch>>(call)
  const [fresh, setFresh] = useState<readonly AnyLaunch[]>([])
  useStream(['launches'], answer === null ? undefined : (answer.body.data[0]?.cursor ?? 0), (items) => {
    const added: AnyLaunch[] = []
    const retracted = new Set<number>()
    for (const item of items) {
      if (item.kind === 'launch') added.unshift({ ...item.data, ts_ms: item.data.block_time * 1_000 })
      else if (item.kind === 'retract') retracted.add(item.data.of)
      else if (item.kind === 'gap') refetch()
    }
    setFresh((before) =>
      [...added, ...before].filter(({ cursor }) => !retracted.has(cursor)).slice(0, LAUNCHES_MAX)
    )
  })
  const known = new Set(fresh.map(({ cursor }) => cursor))
  const rows: readonly AnyLaunch[] = [
    ...fresh,
    ...(answer?.body.data ?? []).filter(({ cursor }) => !known.has(cursor))
  ].slice(0, LAUNCHES_MAX)
  return h(
    Panel,
    { title: 'Launches', id: 'launches-title', problem, isLoading: answer === null, onRetry: refetch },
    rows.length === 0
      ? h('p', { class: 'note' }, 'No token has been launched yet.')
      : h(
          'ul',
          { class: 'feed', tabIndex: 0, 'aria-label': 'Launches, newest first' },
          rows.map((launch) =>
            h(
              'li',
              { key: launch.cursor, class: known.has(launch.cursor) ? 'fresh' : '' },
              h(TokenName, launch),
              h('span', { class: 'venue' }, launch.venue),
              answer === null
                ? null
                : h(
                    Value,
                    { class: 'quiet', from: originsOf(answer)('data[].slot', launch.slot, launch) },
                    h(Age, { ms: launch.ts_ms })
                  )
            )
          )
        )
  )
}

function Graduations(): JSX.Element {
  const call = callOf('/v1/launches', {}, { status: 'graduated', limit: 12 })
  const { answer, problem, refetch } = useAnswer<List<Launch>>(call)
  // A graduation changes the status of a launch, so the list is read again.
  useStream(['curves'], answer === null ? undefined : null, (items) => {
    if (items.some((item) => item.kind === 'curve' && item.data.event === 'migrate')) refetch()
  })
  const rows = answer?.body.data ?? []
  return h(
    Panel,
    { title: 'Graduations', id: 'graduations-title', problem, isLoading: answer === null, onRetry: refetch },
    rows.length === 0
      ? h('p', { class: 'note' }, 'No curve has been sold out yet.')
      : h(
          'ul',
          { class: 'feed', tabIndex: 0, 'aria-label': 'Graduated tokens, the newest launch first' },
          rows.map((launch) =>
            h(
              'li',
              { key: launch.mint },
              h(TokenName, launch),
              h('span', { class: 'venue' }, launch.venue),
              h(
                'span',
                { class: 'quiet', title: 'Launched by' },
                h(AddressLink, { view: 'wallet', address: launch.creator })
              )
            )
          )
        )
  )
}
