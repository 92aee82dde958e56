import { h, type JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { callOf, type Answer } from '../api.ts'
import type { Pool, PoolActivity } from '../answers.ts'
import { Avatar } from '../avatar.ts'
import { TradeRelay } from '../candle-chart.ts'
import { ChartPanel } from '../chart-panel.ts'
import { AddressLink, Age, CopyButton, Facts, Panel, ProblemNote } from '../elements.ts'
import { originsOf, Value } from '../explain.ts'
import { amount, count, short, timeMs, usd, usdPrice } from '../format.ts'
import { pairText } from '../pools-panel.ts'
import { TapePanel } from '../tape-panel.ts'
import { useAnswer } from '../use-answer.ts'

type Minute = PoolActivity['data'][number]

const REFETCH_MS = 5_000
const MINUTES = 120

/** A pool: reserves, candles, activity by the minute and trades. */
export function PoolView({ argument: pool }: { readonly argument: string }): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Pool>(callOf('/v1/pools/{pool}', { pool }), REFETCH_MS)
  const relay = useMemo(() => new TradeRelay(), [pool])
  const body = answer?.body
  return h(
    'div',
    { class: 'view' },
    h(
      'header',
      { class: 'token-head' },
      h(Avatar, { seed: pool, text: 'P', size: 46 }),
      h(
        'div',
        { class: 'token-title' },
        h('h1', null, body === undefined ? `Pool ${short(pool)}` : h('bdi', null, pairText(body))),
        h(
          'p',
          { class: 'quiet' },
          h('code', { class: 'whole' }, pool),
          h(CopyButton, { text: pool, name: 'Copy the address' }),
          body === undefined ? null : h('span', { class: 'venue' }, body.venue)
        )
      )
    ),
    problem === null ? null : h(ProblemNote, { problem, onRetry: refetch }),
    h(
      'div',
      { class: 'columns' },
      h(
        'div',
        { class: 'main-column' },
        h(ChartPanel, { of: { kind: 'pool', address: pool }, relay }),
        h(ActivityPanel, { pool }),
        h(TapePanel, {
          of: { kind: 'pool', address: pool },
          venues: [],
          onTrades: (trades) => relay.pass(trades)
        })
      ),
      h('div', { class: 'side-column' }, answer === null ? null : h(FactsPanel, { answer }))
    )
  )
}

function FactsPanel({ answer }: { readonly answer: Answer<Pool> }): JSX.Element {
  const { body } = answer
  const from = originsOf(answer)
  const at = { slot: body.reserves_slot }
  const value = (
    field: keyof Pool,
    text: string,
    facts: { readonly slot?: number | null } = {}
  ): JSX.Element => h(Value, { from: from(field, body[field], facts) }, text)
  return h(
    Panel,
    { title: 'Reserves and facts', id: 'pool-facts' },
    body.reserves_reason === null ? null : h('p', { class: 'note' }, body.reserves_reason),
    h(Facts, {
      rows: [
        ['Base', h(AddressLink, { view: 'token', address: body.base_mint })],
        ['Base reserve', value('base_reserve', amount(body.base_reserve), at)],
        ['Quote', h(AddressLink, { view: 'token', address: body.quote_mint })],
        ['Quote reserve', value('quote_reserve', amount(body.quote_reserve), at)],
        ['Liquidity', value('liquidity_usd', usd(body.liquidity_usd), at)],
        ['Price', value('price_usd', usdPrice(body.price_usd))],
        ['Fee', value('fee_bps', body.fee_bps === null ? '–' : `${body.fee_bps / 100}%`)],
        ['Volume 24 h', value('volume_24h_usd', usd(body.volume_24h_usd))],
        ['Trades 24 h', value('trades_24h', count(body.trades_24h))],
        body.created_at === null
          ? null
          : ['Created', value('created_at', body.created_at, { slot: body.created_slot })],
        body.last_trade_at === null ? null : ['Last trade', h(Age, { ms: timeMs(body.last_trade_at) })]
      ]
    })
  )
}

const WIDTH = 720
const HEIGHT = 120

function ActivityPanel({ pool }: { readonly pool: string }): JSX.Element {
  const { answer, problem, refetch } = useAnswer<PoolActivity>(
    callOf('/v1/pools/{pool}/activity', { pool }, { limit: MINUTES }),
    REFETCH_MS
  )
  const minutes = answer?.body.data ?? []
  const [newest] = minutes
  const from = answer === null ? null : originsOf(answer)
  return h(
    Panel,
    {
      title: 'Activity by the minute',
      id: 'activity-title',
      problem,
      isLoading: answer === null,
      onRetry: refetch,
      tools:
        newest === undefined
          ? null
          : h(
              'p',
              { class: 'note' },
              `${newest.ts.slice(11, 16)}: `,
              h(Value, { from: from!('data[].trades', newest.trades) }, `${count(newest.trades)} trades`),
              ' ',
              h(Value, { from: from!('data[].volume_usd', newest.volume_usd) }, usd(newest.volume_usd)),
              ' ',
              h(
                Value,
                { from: from!('data[].liquidity_events', newest.liquidity_events) },
                `${count(newest.liquidity_events)} of liquidity`
              )
            )
    },
    newest === undefined
      ? h('p', { class: 'note' }, 'No event of this pool is indexed.')
      : h(MinuteBars, { minutes, newest })
  )
}

/** Buys above the line and sells below, by the minute; a dot marks changes of liquidity. */
function MinuteBars({
  minutes,
  newest
}: {
  readonly minutes: readonly Minute[]
  readonly newest: Minute
}): JSX.Element {
  const most = Math.max(1, ...minutes.flatMap(({ buys, sells }) => [buys, sells]))
  const step = WIDTH / MINUTES
  const middle = HEIGHT / 2
  return h(
    'svg',
    {
      class: 'minutes',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': `Trades by the minute over the last ${MINUTES} minutes; at most ${most} buys or sells in one`
    },
    h('line', { x1: 0, x2: WIDTH, y1: middle, y2: middle }),
    minutes.map(({ ts_ms: ms, buys, sells, liquidity_events: liquidity, ts }) => {
      const x = WIDTH - ((newest.ts_ms - ms) / 60_000 + 1) * step
      if (x < 0) return null
      const height = (trades: number): number => (trades / most) * (middle - 6)
      return h(
        'g',
        { key: ms },
        h(
          'title',
          null,
          `${ts.slice(11, 16)}: ${buys} buys, ${sells} sells, ${liquidity} changes of liquidity`
        ),
        h('rect', { class: 'buys', x, y: middle - height(buys), width: step - 1, height: height(buys) }),
        h('rect', { class: 'sells', x, y: middle, width: step - 1, height: height(sells) }),
        liquidity > 0 ? h('circle', { cx: x + step / 2, cy: 4, r: 2 }) : null
      )
    })
  )
}
