import { h, type JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { callOf, type Answer } from '../api.ts'
import type { List, Pool, Token, Trade } from '../answers.ts'
import { Avatar } from '../avatar.ts'
import { TradeRelay } from '../candle-chart.ts'
import { ChartPanel } from '../chart-panel.ts'
import { CurvePanel } from '../curve-panel.ts'
import { AddressLink, Age, Change, Choice, CopyButton, Facts, Panel, ProblemNote } from '../elements.ts'
import { originsOf, Value, type Origin } from '../explain.ts'
import { amount, count, decimal, nameText, share, short, timeMs, usd, usdPrice } from '../format.ts'
import { HoldersPanel } from '../holders-panel.ts'
import { MetadataPanel } from '../metadata-panel.ts'
import { PoolsPanel } from '../pools-panel.ts'
import { Store, useStore } from '../store.ts'
import { TapePanel, tradeOrigin } from '../tape-panel.ts'
import { useOffChain } from '../token-image.ts'
import { useAnswer } from '../use-answer.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
/** The overview changes with each trade; the price at its head follows the stream in between. */
const REFETCH_MS = 4_000
const PARTS = ['Trades', 'Pools', 'Holders', 'Metadata'] as const
const WINDOWS = ['5m', '1h', '6h', '24h'] as const

/** A token: price, candles, trades as they come, pools, holders, curve. */
export function TokenView({ argument: mint }: { readonly argument: string }): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Token>(callOf('/v1/tokens/{mint}', { mint }), REFETCH_MS)
  const [part, setPart] = useState<(typeof PARTS)[number]>('Trades')
  // A busy token has trades in each frame: the price at the head follows them, and the rest of the view is not rendered again.
  const newest = useMemo(() => new Store<Trade | null>(null), [mint])
  const relay = useMemo(() => new TradeRelay(), [mint])
  const pools = useAnswer<List<Pool>>(callOf('/v1/tokens/{mint}/pools', { mint }, { limit: 100 }))
  const venues = [...new Set((pools.answer?.body.data ?? []).map(({ venue }) => venue))].toSorted()
  const offChain = useOffChain(mint, answer !== null && answer.body.metadata.slot !== null)
  const isUnknown = problem !== null && answer === null && problem.status >= 400 && problem.status < 429
  if (isUnknown)
    return h(
      'div',
      { class: 'view' },
      h('h1', null, short(mint)),
      h(ProblemNote, { problem, onRetry: refetch })
    )
  return h(
    'div',
    { class: 'view token' },
    h(Head, { mint, answer, newest, imageUrl: offChain.imageUrl }),
    problem === null ? null : h(ProblemNote, { problem, onRetry: refetch }),
    h(
      'div',
      { class: 'columns' },
      h(
        'div',
        { class: 'main-column' },
        h(ChartPanel, { of: { kind: 'token', address: mint }, relay }),
        h(Choice<(typeof PARTS)[number]>, { name: 'Part', options: PARTS, chosen: part, onChoose: setPart }),
        // The tape stays: the chart grows by its trades.
        h(
          'div',
          { hidden: part !== 'Trades' },
          h(TapePanel, {
            of: { kind: 'token', address: mint },
            venues,
            onTrades: (trades) => {
              relay.pass(trades)
              newest.set(trades.find(({ price_forming: forms }) => forms) ?? newest.value)
            }
          })
        ),
        part === 'Pools' ? h(PoolsPanel, { mint }) : null,
        part === 'Holders' ? h(HoldersPanel, { mint }) : null,
        part === 'Metadata' && answer !== null
          ? h(MetadataPanel, { answer, offChain: offChain.answer })
          : null
      ),
      h(
        'div',
        { class: 'side-column' },
        answer === null ? null : h(FactsPanel, { answer }),
        answer === null || answer.body.bonding_curve === null ? null : h(CurvePanel, { mint }),
        answer === null ? null : h(ActivityPanel, { answer })
      )
    )
  )
}

interface Shown {
  readonly answer: Answer<Token>
}

interface HeadProps {
  readonly mint: string
  readonly answer: Answer<Token> | null
  /** The newest price-forming trade of the stream; null before it. */
  readonly newest: Store<Trade | null>
  readonly imageUrl: string | null
}

function Head({ mint, answer, newest: stored, imageUrl }: HeadProps): JSX.Element {
  const newest = useStore(stored)
  const body = answer?.body
  const symbol = nameText(body?.symbol)
  const from = answer === null ? null : originsOf(answer)
  const at = { slot: body?.price_slot ?? null }
  const isNewer = newest !== null && (newest.slot ?? 0) >= (body?.price_slot ?? 0)
  const priced = isNewer ? newest : body
  const cash = priced?.cash_mint === WSOL ? 'SOL' : ''
  const priceOrigin = (field: 'price' | 'price_usd'): Origin =>
    isNewer ? tradeOrigin(newest, { kind: 'token', address: mint })(field) : from!(field, body?.[field], at)
  return h(
    'header',
    { class: 'token-head' },
    h(Avatar, { seed: mint, text: symbol ?? '?', size: 46, imageUrl }),
    h(
      'div',
      { class: 'token-title' },
      h(
        'h1',
        null,
        h('bdi', null, symbol ?? short(mint)),
        ' ',
        h('bdi', { class: 'full-name' }, nameText(body?.name) ?? '')
      ),
      h(
        'p',
        { class: 'quiet' },
        h('code', null, short(mint)),
        h(CopyButton, { text: mint, name: 'Copy the address' }),
        body?.venue == null ? null : h('span', { class: 'venue' }, body.venue),
        body === undefined ? null : h('span', { class: 'venue' }, body.status)
      )
    ),
    from === null || body === undefined
      ? null
      : h(
          'div',
          { class: 'token-price' },
          h(Value, { from: priceOrigin('price_usd'), class: 'large-value' }, usdPrice(priced?.price_usd)),
          priced?.price == null || mint === WSOL
            ? null
            : h(Value, { from: priceOrigin('price'), class: 'quiet' }, `${decimal(priced.price)} ${cash}`)
        ),
    from === null || body === undefined
      ? null
      : h(
          'dl',
          { class: 'changes' },
          WINDOWS.map((name) => {
            const pct = body.windows[name].price_change_pct
            return h(
              'div',
              { key: name },
              h('dt', null, name),
              h(
                'dd',
                null,
                h(Value, { from: from(`windows.${name}.price_change_pct`, pct) }, h(Change, { pct }))
              )
            )
          })
        )
  )
}

function FactsPanel({ answer }: Shown): JSX.Element {
  const { body } = answer
  const from = originsOf(answer)
  const value = (field: keyof Token, text: string, slot?: number | null): JSX.Element =>
    h(Value, { from: from(field, body[field], slot === undefined ? {} : { slot }) }, text)
  const { holders } = body
  return h(
    Panel,
    { title: 'Facts', id: 'facts-title' },
    h(Facts, {
      rows: [
        ['Market cap', value('market_cap_usd', usd(body.market_cap_usd), body.supply_slot)],
        ['Fully diluted', value('fdv_usd', usd(body.fdv_usd), body.supply_slot)],
        ['Liquidity', value('liquidity_usd', usd(body.liquidity_usd), body.liquidity_slot)],
        ['Supply', value('supply', amount(body.supply), body.supply_slot)],
        ['Circulating', value('circulating_supply', amount(body.circulating_supply), body.supply_slot)],
        ['Volume 24 h', value('volume_24h_usd', usd(body.volume_24h_usd))],
        ['Traders 24 h', value('traders_24h', count(body.traders_24h))],
        holders.count === null
          ? null
          : ['Holders', h(Value, { from: from('holders.count', holders.count) }, count(holders.count))],
        holders.top10_pct === null
          ? null
          : [
              'Largest 10',
              h(Value, { from: from('holders.top10_pct', holders.top10_pct) }, share(holders.top10_pct))
            ],
        ['Pools', value('pools_count', count(body.pools_count))],
        body.created_at === null ? null : ['Launched', h(Age, { ms: timeMs(body.created_at) })],
        body.creator === null ? null : ['Creator', h(AddressLink, { view: 'wallet', address: body.creator })],
        body.last_trade === null
          ? null
          : [
              'Last trade',
              h(
                Value,
                { from: from('last_trade.ts', body.last_trade.ts, body.last_trade) },
                h(Age, { ms: body.last_trade.ts_ms })
              )
            ]
      ]
    })
  )
}

/** Buys against sells of the windows. */
function ActivityPanel({ answer }: Shown): JSX.Element {
  const from = originsOf(answer)
  return h(
    Panel,
    { title: 'Buys and sells', id: 'activity-title' },
    WINDOWS.map((name) => {
      const {
        buys,
        sells,
        buy_usd: bought,
        sell_usd: sold,
        volume_usd: volume,
        trades
      } = answer.body.windows[name]
      const pct = trades === 0 ? 50 : (buys / Math.max(1, buys + sells)) * 100
      const value = (field: string, raw: number | null, text: string, kind: string): JSX.Element =>
        h(Value, { from: from(`windows.${name}.${field}`, raw), class: kind }, text)
      return h(
        'div',
        { key: name, class: 'balance' },
        h(
          'p',
          null,
          h('strong', null, name),
          value('buys', buys, `${count(buys)} buys`, 'up'),
          value('sells', sells, `${count(sells)} sells`, 'down'),
          value('volume_usd', volume, usd(volume), 'quiet')
        ),
        h(
          'div',
          { class: 'balance-bar', role: 'img', 'aria-label': `${share(pct)} of the trades are buys` },
          h('div', { style: { width: `${pct}%` } })
        ),
        h(
          'p',
          { class: 'note' },
          value('buy_usd', bought, usd(bought), ''),
          value('sell_usd', sold, usd(sold), '')
        )
      )
    })
  )
}
