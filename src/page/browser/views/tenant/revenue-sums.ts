import { h, type JSX } from 'preact'
import type { Answer } from '../../api.ts'
import type { RevenueTotals } from '../../answers.ts'
import { AddressLink, Choice, Facts, Panel, Table } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { amount, count, nameText, short, usd } from '../../format.ts'
import { valueColumns } from '../../value-column.ts'

type Flow = RevenueTotals['by_mint'][number]
type RoleFlow = RevenueTotals['by_role'][number]

const WINDOWS = ['1 day', '7 days', '30 days', '365 days'] as const
export type SumsWindow = (typeof WINDOWS)[number]

interface SumsProps {
  readonly answer: Answer<RevenueTotals>
  readonly window: SumsWindow
  readonly onWindow: (window: SumsWindow) => void
}

/** Sums of all watched addresses in a window, by role and by mint. */
export function SumsPanel({ answer, window, onWindow }: SumsProps): JSX.Element {
  const from = originsOf(answer)
  const { totals, by_role: roles, by_mint: mints } = answer.body
  const value = (field: string, raw: number | null, text: string): JSX.Element =>
    h(Value, { from: from(field, raw) }, text)
  const ofRole = valueColumns<RoleFlow>(answer, 'by_role[]')
  const ofMint = valueColumns<Flow>(answer, 'by_mint[]')
  return h(
    Panel,
    {
      title: 'Sums',
      id: 'sums-title',
      tools: h(Choice<SumsWindow>, {
        name: 'Window',
        options: WINDOWS,
        chosen: window,
        onChoose: onWindow
      })
    },
    h(Facts, {
      rows: [
        ['In', value('totals.inflow_usd', totals.inflow_usd, usd(totals.inflow_usd))],
        ['Out', value('totals.outflow_usd', totals.outflow_usd, usd(totals.outflow_usd))],
        ['Net', value('totals.net_usd', totals.net_usd, usd(totals.net_usd))],
        ['Net SOL', value('totals.net_sol', totals.net_sol, amount(totals.net_sol))],
        ['Rows', value('totals.events', totals.events, count(totals.events))]
      ]
    }),
    h('h3', null, 'By role'),
    h(Table<RoleFlow>, {
      name: 'Sums by role',
      columns: [
        { name: 'Role', cell: ({ role }) => role },
        ofRole('Addresses', 'addresses'),
        ofRole('In', 'inflow_usd', { text: usd, isStop: true }),
        ofRole('Out', 'outflow_usd', { text: usd }),
        ofRole('Net', 'net_usd', { text: usd })
      ],
      rows: roles,
      keyOf: ({ role }) => role,
      empty: 'No row in this window.'
    }),
    h('h3', null, 'By mint'),
    h(Table<Flow>, {
      name: 'Sums by mint',
      columns: [
        {
          name: 'Mint',
          cell: ({ mint, symbol }) =>
            h(AddressLink, { view: 'token', address: mint, text: nameText(symbol) ?? short(mint) })
        },
        ofMint('In', 'inflow', { text: amount, isStop: true }),
        ofMint('Out', 'outflow', { text: amount }),
        ofMint('Net USD', 'net_usd', { text: usd })
      ],
      rows: mints,
      keyOf: ({ mint }) => mint,
      empty: 'No row in this window.'
    })
  )
}
