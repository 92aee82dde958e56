import { h, type JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { callOf } from '../api.ts'
import type { Holdings, Trade } from '../answers.ts'
import { Avatar } from '../avatar.ts'
import { AddressLink, Bar, CopyButton, Panel, Table, TokenName } from '../elements.ts'
import { originsOf, Value } from '../explain.ts'
import { amount, count, share, short, usd, usdPrice } from '../format.ts'
import { TapePanel } from '../tape-panel.ts'
import { useAnswer } from '../use-answer.ts'

type Holding = Holdings['data'][number]

const REFETCH_MS = 15_000
const HOLDINGS_MAX = 50
const BALANCES_MAX = 12

/** A wallet: holdings with their value, trades as they come, buys against sells. */
export function WalletView({ argument: wallet }: { readonly argument: string }): JSX.Element {
  const [trades, setTrades] = useState<readonly Trade[]>([])
  return h(
    'div',
    { class: 'view' },
    h(
      'header',
      { class: 'token-head' },
      h(Avatar, { seed: wallet, text: 'W', size: 46 }),
      h(
        'div',
        { class: 'token-title' },
        h('h1', null, 'Wallet ', h('code', null, short(wallet))),
        h(
          'p',
          { class: 'quiet' },
          h('code', { class: 'whole' }, wallet),
          h(CopyButton, { text: wallet, name: 'Copy the address' })
        )
      )
    ),
    h(
      'div',
      { class: 'columns' },
      h(
        'div',
        { class: 'main-column' },
        h(HoldingsPanel, { wallet }),
        h(TapePanel, {
          of: { kind: 'wallet', address: wallet },
          venues: [],
          onTrades: () => undefined,
          onRows: setTrades
        })
      ),
      h('div', { class: 'side-column' }, h(BalancePanel, { trades }))
    )
  )
}

function HoldingsPanel({ wallet }: { readonly wallet: string }): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Holdings>(
    callOf('/v1/wallets/{wallet}/holdings', { wallet }, { limit: HOLDINGS_MAX }),
    REFETCH_MS
  )
  if (answer === null)
    return h(Panel, { title: 'Holdings', id: 'holdings-title', problem, isLoading: true, onRetry: refetch })
  const { body } = answer
  const from = originsOf(answer)
  const at = { slot: body.slot }
  return h(
    Panel,
    {
      title: 'Holdings',
      id: 'holdings-title',
      problem,
      onRetry: refetch,
      tools: h(
        'p',
        null,
        h(
          Value,
          { from: from('total_value_usd', body.total_value_usd, at), class: 'large-value' },
          usd(body.total_value_usd)
        ),
        h('span', { class: 'note' }, ` ${count(body.holdings_count)} holdings`)
      )
    },
    h(Table<Holding>, {
      name: 'Holdings',
      columns: [
        { name: 'Token', cell: (holding) => h(TokenName, holding) },
        {
          name: 'Amount',
          isNumber: true,
          cell: (holding) =>
            h(
              Value,
              { from: from('data[].amount', holding.amount, at), isStop: false },
              amount(holding.amount)
            )
        },
        {
          name: 'Price',
          isNumber: true,
          isWide: true,
          cell: (holding) =>
            h(
              Value,
              { from: from('data[].price_usd', holding.price_usd), isStop: false },
              usdPrice(holding.price_usd)
            )
        },
        {
          name: 'Value',
          isNumber: true,
          cell: (holding) =>
            h(Value, { from: from('data[].value_usd', holding.value_usd, at) }, usd(holding.value_usd))
        },
        {
          name: ' ',
          isWide: true,
          cell: ({ value_usd: value }) => {
            const pct = body.total_value_usd === 0 ? 0 : ((value ?? 0) / body.total_value_usd) * 100
            return h(Bar, { pct, name: share(pct) })
          }
        },
        { name: '  ', cell: ({ frozen }) => (frozen ? h('span', { class: 'venue' }, 'frozen') : '') }
      ],
      rows: body.data,
      keyOf: ({ mint, is_native: isNative }) => `${mint} ${String(isNative)}`,
      empty: 'The wallet holds nothing.'
    })
  )
}

interface Balance {
  readonly mint: string
  readonly buys: number
  readonly sells: number
  readonly boughtUsd: number
  readonly soldUsd: number
}

/** Adds up the listed trades by token, the largest turnover first. */
export function balancesOf(trades: readonly Trade[]): Balance[] {
  const balances = new Map<string, Balance>()
  for (const { mint, event, amount_usd: worth } of trades) {
    if (event === 'swap') continue
    const before = balances.get(mint) ?? { mint, buys: 0, sells: 0, boughtUsd: 0, soldUsd: 0 }
    const isBuy = event === 'buy'
    balances.set(mint, {
      mint,
      buys: before.buys + (isBuy ? 1 : 0),
      sells: before.sells + (isBuy ? 0 : 1),
      boughtUsd: before.boughtUsd + (isBuy ? (worth ?? 0) : 0),
      soldUsd: before.soldUsd + (isBuy ? 0 : (worth ?? 0))
    })
  }
  return [...balances.values()].sort((a, b) => b.boughtUsd + b.soldUsd - (a.boughtUsd + a.soldUsd))
}

/** Buys against sells of the trades that are listed. */
function BalancePanel({ trades }: { readonly trades: readonly Trade[] }): JSX.Element {
  const balances = useMemo(() => balancesOf(trades), [trades])
  const bought = balances.reduce((sum, { boughtUsd }) => sum + boughtUsd, 0)
  const sold = balances.reduce((sum, { soldUsd }) => sum + soldUsd, 0)
  return h(
    Panel,
    {
      title: 'Buys and sells',
      id: 'balance-title',
      tools: h('span', { class: 'note' }, `of the ${count(trades.length)} trades listed`)
    },
    h(BalanceBar, { name: 'All', bought, sold }),
    balances.slice(0, BALANCES_MAX).map(({ mint, boughtUsd, soldUsd }) =>
      h(BalanceBar, {
        key: mint,
        name: h(AddressLink, { view: 'token', address: mint }),
        bought: boughtUsd,
        sold: soldUsd
      })
    )
  )
}

function BalanceBar({
  name,
  bought,
  sold
}: {
  readonly name: JSX.Element | string
  readonly bought: number
  readonly sold: number
}): JSX.Element {
  const pct = bought + sold === 0 ? 50 : (bought / (bought + sold)) * 100
  const net = sold - bought
  return h(
    'div',
    { class: 'balance' },
    h(
      'p',
      null,
      h('strong', null, name),
      h('span', { class: 'up' }, `bought ${usd(bought)}`),
      h('span', { class: 'down' }, `sold ${usd(sold)}`)
    ),
    h(
      'div',
      { class: 'balance-bar', role: 'img', 'aria-label': `${share(pct)} of the value is buys` },
      h('div', { style: { width: `${pct}%` } })
    ),
    h('p', { class: 'note' }, `sold less bought: ${net < 0 ? '−' : '+'}${usd(Math.abs(net))}`)
  )
}
