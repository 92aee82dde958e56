import { h, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { answerOf, callOf, Problem, type Answer } from '../../api.ts'
import type { RevenueCoverage, RevenueRows, RevenueTotals, WatchedAccounts } from '../../answers.ts'
import { serviceNow } from '../../clock.ts'
import { AddressLink, Age, Choice, Facts, Panel, ProblemNote, Table } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { amount, count, nameText, short, usd } from '../../format.ts'
import { useStream } from '../../live.ts'
import { csvOf, flowsByDay, type DayFlow, type LedgerRow } from '../../revenue-rows.ts'
import { useAction } from '../../use-action.ts'
import { useAnswer } from '../../use-answer.ts'

type Account = WatchedAccounts['data'][number]
type Flow = RevenueTotals['by_mint'][number]
type RoleFlow = RevenueTotals['by_role'][number]

const REFETCH_MS = 15_000
const WINDOWS = ['1 day', '7 days', '30 days', '365 days'] as const
const DAY_S = 86_400
/** Rows of the chart and of a file: a busy address has some thousand a day, and a file of them is 30 MB. */
const ROWS_MAX = 50_000
const PAGE_ROWS = 1_000
const ROWS_SHOWN = 100

/** The ledger of the watched addresses: sums by role and mint, a chart by day, rows, and a file of them. */
export function RevenueSection(): JSX.Element {
  const [window, setWindow] = useState<(typeof WINDOWS)[number]>('7 days')
  const seconds = Number(window.split(' ')[0]) * DAY_S
  const totals = useAnswer<RevenueTotals>(callOf('/v1/revenue/totals', {}, { window: seconds }), REFETCH_MS)
  const rows = useAnswer<RevenueRows>(callOf('/v1/revenue/events', {}, { limit: ROWS_SHOWN }), REFETCH_MS)
  useStream(['revenue'], null, () => {
    totals.refetch()
    rows.refetch()
  })
  return h(
    'div',
    { class: 'stack' },
    h(AccountsPanel, null),
    totals.answer === null
      ? h(Panel, {
          title: 'Sums',
          id: 'sums-title',
          problem: totals.problem,
          isLoading: true,
          onRetry: totals.refetch
        })
      : h(SumsPanel, { answer: totals.answer, window, onWindow: setWindow }),
    h(DaysPanel, { seconds }),
    h(RowsPanel, rows),
    h(LedgerCoverage, null)
  )
}

function AccountsPanel(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<WatchedAccounts>(callOf('/v1/revenue/accounts'), REFETCH_MS)
  const [address, setAddress] = useState('')
  const [role, setRole] = useState('fee_wallet')
  const change = useAction<unknown>(() => {
    setAddress('')
    refetch()
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    change.run(callOf('/v1/revenue/accounts', {}, {}, 'POST', { address: address.trim(), role: role.trim() }))
  }
  const input = (set: (text: string) => void) => (event: Event) =>
    set((event.currentTarget as HTMLInputElement).value)
  const from = answer === null ? null : originsOf(answer)
  return h(
    Panel,
    {
      title: 'Watched addresses',
      id: 'watched-title',
      problem,
      isLoading: answer === null,
      onRetry: refetch
    },
    h(Table<Account>, {
      name: 'Watched addresses',
      columns: [
        { name: 'Address', cell: (account) => h(AddressLink, { view: 'wallet', address: account.address }) },
        {
          name: 'Label',
          cell: ({ label, address }) => h('bdi', null, label === address ? '' : nameText(label))
        },
        { name: 'Role', cell: (account) => account.role },
        { name: 'Status', cell: ({ status }) => status },
        {
          name: 'In',
          isNumber: true,
          cell: (account) =>
            h(Value, { from: from!('data[].inflow_usd', account.inflow_usd) }, usd(account.inflow_usd))
        },
        {
          name: 'Out',
          isNumber: true,
          cell: (account) =>
            h(Value, { from: from!('data[].outflow_usd', account.outflow_usd) }, usd(account.outflow_usd))
        },
        { name: 'Rows', isNumber: true, isWide: true, cell: ({ events }) => count(events) },
        {
          name: ' ',
          cell: (account) =>
            h(
              'button',
              {
                type: 'button',
                onClick: () =>
                  confirm(`Stop watching ${account.address}?`) &&
                  change.run(
                    callOf('/v1/revenue/accounts/{address}', { address: account.address }, {}, 'DELETE')
                  )
              },
              'Stop'
            )
        }
      ],
      rows: answer?.body.data ?? [],
      keyOf: (account) => account.address,
      empty: 'No address is watched yet.'
    }),
    h(
      'form',
      { class: 'key-form', onSubmit: submit },
      h('label', { htmlFor: 'watch-address' }, 'Watch'),
      h('input', {
        id: 'watch-address',
        class: 'mono',
        placeholder: 'an address',
        value: address,
        spellcheck: false,
        onInput: input(setAddress)
      }),
      h('label', { htmlFor: 'watch-role' }, 'as'),
      h('input', {
        id: 'watch-role',
        class: 'mono',
        value: role,
        spellcheck: false,
        onInput: input(setRole)
      }),
      h('button', { type: 'submit', disabled: change.isRunning || address.trim() === '' }, 'Watch')
    ),
    change.problem === null ? null : h(ProblemNote, { problem: change.problem })
  )
}

interface SumsProps {
  readonly answer: Answer<RevenueTotals>
  readonly window: (typeof WINDOWS)[number]
  readonly onWindow: (window: (typeof WINDOWS)[number]) => void
}

function SumsPanel({ answer, window, onWindow }: SumsProps): JSX.Element {
  const from = originsOf(answer)
  const { totals, by_role: roles, by_mint: mints } = answer.body
  const value = (field: string, raw: number | null, text: string): JSX.Element =>
    h(Value, { from: from(field, raw) }, text)
  return h(
    Panel,
    {
      title: 'Sums',
      id: 'sums-title',
      tools: h(Choice<(typeof WINDOWS)[number]>, {
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
        { name: 'Addresses', isNumber: true, cell: ({ addresses }) => count(addresses) },
        {
          name: 'In',
          isNumber: true,
          cell: (row) => value('by_role[].inflow_usd', row.inflow_usd, usd(row.inflow_usd))
        },
        {
          name: 'Out',
          isNumber: true,
          cell: (row) => value('by_role[].outflow_usd', row.outflow_usd, usd(row.outflow_usd))
        },
        {
          name: 'Net',
          isNumber: true,
          cell: (row) => value('by_role[].net_usd', row.net_usd, usd(row.net_usd))
        }
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
        {
          name: 'In',
          isNumber: true,
          cell: (row) => value('by_mint[].inflow', row.inflow, amount(row.inflow))
        },
        {
          name: 'Out',
          isNumber: true,
          cell: (row) => value('by_mint[].outflow', row.outflow, amount(row.outflow))
        },
        {
          name: 'Net USD',
          isNumber: true,
          cell: (row) => value('by_mint[].net_usd', row.net_usd, usd(row.net_usd))
        }
      ],
      rows: mints,
      keyOf: ({ mint }) => mint,
      empty: 'No row in this window.'
    })
  )
}

/** Reads rows of the ledger from a time on, page by page. */
async function readRows(
  fromSeconds: number
): Promise<{ readonly rows: readonly LedgerRow[]; readonly isCut: boolean }> {
  const rows: LedgerRow[] = []
  let after: string | null = null
  do {
    const { body }: Answer<RevenueRows> = await answerOf<RevenueRows>(
      callOf('/v1/revenue/events', {}, { limit: PAGE_ROWS, from: fromSeconds, after })
    )
    rows.push(...body.data)
    after = body.nextCursor
  } while (after !== null && rows.length < ROWS_MAX)
  return { rows, isCut: after !== null }
}

const BY = ['day', 'mint', 'role'] as const

/** Inflow and outflow by day, which can be split by mint or role, and the rows behind them as a file. */
function DaysPanel({ seconds }: { readonly seconds: number }): JSX.Element {
  const [read, setRead] = useState<{
    readonly seconds: number
    readonly rows: readonly LedgerRow[]
    readonly isCut: boolean
  } | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isReading, setIsReading] = useState(false)
  const [by, setBy] = useState<(typeof BY)[number]>('day')
  const load = async (): Promise<readonly LedgerRow[]> => {
    setIsReading(true)
    setProblem(null)
    try {
      const found = await readRows(Math.floor(serviceNow() / 1_000) - seconds)
      setRead({ seconds, ...found })
      return found.rows
    } catch (error) {
      if (error instanceof Problem) setProblem(error)
      return []
    } finally {
      setIsReading(false)
    }
  }
  const download = async (): Promise<void> => {
    const rows = await load()
    if (rows.length === 0) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([csvOf(rows)], { type: 'text/csv' }))
    link.download = 'revenue.csv'
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }
  const rows = read === null || read.seconds !== seconds ? null : read.rows
  return h(
    Panel,
    {
      title: 'By day',
      id: 'days-title',
      problem,
      tools: [
        h(Choice<(typeof BY)[number]>, {
          key: 'by',
          name: 'Split by',
          options: BY,
          chosen: by,
          onChoose: setBy
        }),
        h(
          'button',
          { key: 'draw', type: 'button', disabled: isReading, onClick: () => void load() },
          isReading ? 'Reading …' : 'Draw'
        ),
        h(
          'button',
          { key: 'csv', type: 'button', disabled: isReading, onClick: () => void download() },
          'Download CSV'
        )
      ]
    },
    rows === null
      ? h('p', { class: 'note' }, 'The chart reads every row of the window, so it is drawn on request.')
      : [
          h(DayChart, {
            key: 'chart',
            days: flowsByDay(
              rows,
              by === 'mint'
                ? (row) => nameText(row.symbol) ?? short(row.mint)
                : by === 'role'
                  ? (row) => row.role
                  : () => 'all'
            )
          }),
          h(
            'p',
            { key: 'note', class: 'note' },
            `${count(rows.length)} rows${read?.isCut === true ? ', the newest ones' : ''}; rows without a price are left out of the chart.`
          )
        ]
  )
}

const WIDTH = 720
const HEIGHT = 180

function DayChart({ days }: { readonly days: readonly DayFlow[] }): JSX.Element {
  const names = [...new Set(days.flatMap(({ parts }) => parts.map(({ name }) => name)))]
  const most = Math.max(1e-9, ...days.flatMap(({ inflow, outflow }) => [inflow, outflow]))
  const step = WIDTH / Math.max(1, days.length)
  const middle = HEIGHT / 2
  const size = (value: number): number => (value / most) * (middle - 12)
  return h(
    'div',
    null,
    h(
      'svg',
      {
        class: 'days',
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: 'img',
        'aria-label': days
          .map(({ day, inflow, outflow }) => `${day}: in ${usd(inflow)}, out ${usd(outflow)}`)
          .join('; ')
      },
      h('line', { x1: 0, x2: WIDTH, y1: middle, y2: middle }),
      days.map(({ day, inflow, outflow, parts }, at) => {
        let above = middle
        let below = middle
        return h(
          'g',
          { key: day },
          h('title', null, `${day}: in ${usd(inflow)}, out ${usd(outflow)}`),
          parts.map(({ name, inflow: into, outflow: out }) => {
            above -= size(into)
            const under = below
            below += size(out)
            const kind = `part-${names.indexOf(name) % 6}`
            const x = at * step + 2
            const width = Math.max(1, step - 4)
            return h(
              'g',
              { key: name, class: kind },
              h('rect', { x, y: above, width, height: size(into) }),
              h('rect', { class: 'out', x, y: under, width, height: size(out) })
            )
          }),
          step > 46
            ? h(
                'text',
                { x: at * step + step / 2, y: HEIGHT - 2, 'text-anchor': 'middle', 'font-size': 10 },
                day.slice(5)
              )
            : null
        )
      })
    ),
    h(
      'ul',
      { class: 'key' },
      names.map((name, at) => h('li', { key: name }, h('span', { class: `swatch part-${at % 6}` }), name))
    )
  )
}

function RowsPanel({ answer, problem, refetch }: ReturnType<typeof useAnswer<RevenueRows>>): JSX.Element {
  const from = answer === null ? null : originsOf(answer)
  return h(
    Panel,
    { title: 'Ledger', id: 'ledger-title', problem, isLoading: answer === null, onRetry: refetch },
    h(Table<LedgerRow>, {
      name: 'Rows of the ledger, newest first',
      columns: [
        { name: 'Age', cell: ({ ts_ms: ms }) => h(Age, { ms }) },
        {
          name: 'Address',
          cell: ({ address, label }) =>
            h(AddressLink, {
              view: 'wallet',
              address,
              text: label === address ? short(address) : (nameText(label) ?? short(address))
            })
        },
        { name: 'Kind', cell: ({ kind }) => kind },
        {
          name: 'Change',
          isNumber: true,
          cell: (row) =>
            h(
              Value,
              {
                from: from!('data[].delta', row.delta, { slot: row.slot, signature: row.signature }),
                class: row.direction === 'in' ? 'up' : 'down'
              },
              `${row.delta < 0 ? '−' : '+'}${amount(Math.abs(row.delta))} ${nameText(row.symbol) ?? short(row.mint)}`
            )
        },
        {
          name: 'Value',
          isNumber: true,
          cell: (row) =>
            h(
              Value,
              {
                from: from!('data[].value_usd', row.value_usd, { slot: row.slot, signature: row.signature }),
                isStop: false
              },
              usd(row.value_usd)
            )
        },
        {
          name: 'Counterparty',
          isWide: true,
          cell: ({ counterparty }) =>
            counterparty === null ? '–' : h(AddressLink, { view: 'wallet', address: counterparty })
        },
        {
          name: 'Tx',
          isWide: true,
          cell: ({ signature }) =>
            signature === null ? '–' : h(AddressLink, { view: 'tx', address: signature })
        }
      ],
      rows: answer?.body.data ?? [],
      keyOf: ({ id }) => id,
      empty: 'No row yet.'
    })
  )
}

function LedgerCoverage(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<RevenueCoverage>(callOf('/v1/revenue/coverage'), REFETCH_MS)
  return h(
    Panel,
    { title: 'Completeness', id: 'ledger-coverage', problem, isLoading: answer === null, onRetry: refetch },
    h(Table<RevenueCoverage['addresses'][number]>, {
      name: 'Completeness of the ledgers',
      columns: [
        {
          name: 'Address',
          cell: ({ address, label }) =>
            h(AddressLink, {
              view: 'wallet',
              address,
              text: label === address ? short(address) : (nameText(label) ?? short(address))
            })
        },
        { name: 'From', cell: ({ live_from: place }) => place?.ts ?? '–' },
        { name: 'Complete', cell: ({ complete }) => (complete ? 'yes' : 'no') },
        { name: 'Gaps', isNumber: true, cell: ({ gaps, gaps_left_out: more }) => count(gaps.length + more) },
        {
          name: 'Reasons',
          cell: ({ gaps, holes }) => [...new Set([...gaps, ...holes].map(({ reason }) => reason))].join(', ')
        }
      ],
      rows: answer?.body.addresses ?? [],
      keyOf: ({ address }) => address,
      empty: 'No ledger has begun.'
    })
  )
}
