import { h, type JSX } from 'preact'
import { callOf } from './api.ts'
import type { List, Pool } from './answers.ts'
import { AddressLink, Age, Panel, Table } from './elements.ts'
import { originsOf, Value } from './explain.ts'
import { amount, count, nameText, short, timeMs, usd, usdPrice } from './format.ts'
import { useAnswer } from './use-answer.ts'

const REFETCH_MS = 10_000
const POOLS_MAX = 50

/** The pools of a token, the most liquid first. */
export function PoolsPanel({ mint }: { readonly mint: string }): JSX.Element {
  const { answer, problem, refetch } = useAnswer<List<Pool>>(
    callOf('/v1/tokens/{mint}/pools', { mint }, { limit: POOLS_MAX }),
    REFETCH_MS
  )
  const pools = answer?.body.data ?? []
  const from = answer === null ? null : originsOf(answer)
  const value = (pool: Pool, field: keyof Pool, text: string, isStop = false): JSX.Element =>
    h(Value, { from: from!(`data[].${field}`, pool[field], { slot: pool.reserves_slot }), isStop }, text)
  return h(
    Panel,
    { title: 'Pools', id: 'pools-title', problem, isLoading: answer === null, onRetry: refetch },
    h(Table<Pool>, {
      name: 'Pools of the token',
      columns: [
        {
          name: 'Venue',
          cell: ({ pool, venue }) => h(AddressLink, { view: 'pool', address: pool, text: venue })
        },
        { name: 'Pair', cell: (pool) => pairText(pool) },
        {
          name: 'Liquidity',
          isNumber: true,
          cell: (pool) => value(pool, 'liquidity_usd', usd(pool.liquidity_usd), true)
        },
        {
          name: 'Base',
          isNumber: true,
          isWide: true,
          cell: (pool) => value(pool, 'base_reserve', amount(pool.base_reserve))
        },
        {
          name: 'Quote',
          isNumber: true,
          isWide: true,
          cell: (pool) => value(pool, 'quote_reserve', amount(pool.quote_reserve))
        },
        { name: 'Price', isNumber: true, cell: (pool) => value(pool, 'price_usd', usdPrice(pool.price_usd)) },
        {
          name: 'Volume 24 h',
          isNumber: true,
          isWide: true,
          cell: (pool) => value(pool, 'volume_24h_usd', usd(pool.volume_24h_usd))
        },
        {
          name: 'Trades 24 h',
          isNumber: true,
          isWide: true,
          cell: (pool) => value(pool, 'trades_24h', count(pool.trades_24h))
        },
        {
          name: 'Last trade',
          isNumber: true,
          isWide: true,
          cell: ({ last_trade_at: time }) => (time === null ? '–' : h(Age, { ms: timeMs(time) }))
        },
        {
          name: ' ',
          cell: ({ live, source }) =>
            source === 'archive' || !live ? h('span', { class: 'venue' }, 'archive') : ''
        }
      ],
      rows: pools,
      keyOf: ({ pool }) => pool,
      empty: 'No pool of this token is known.'
    })
  )
}

export const pairText = ({
  base_symbol: base,
  quote_symbol: quote,
  base_mint: baseMint,
  quote_mint: quoteMint
}: Pool): string => `${nameText(base) ?? short(baseMint)} / ${nameText(quote) ?? short(quoteMint)}`
