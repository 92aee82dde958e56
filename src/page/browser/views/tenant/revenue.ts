import { h, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callOf } from '../../api.ts'
import type { RevenueCoverage, RevenueRows, RevenueTotals, WatchedAccounts } from '../../answers.ts'
import { AddressLink, Age, Panel, ProblemNote, Table } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { amount, count, nameText, short, usd } from '../../format.ts'
import { useStream } from '../../live.ts'
import type { LedgerRow } from '../../revenue-rows.ts'
import { useAction } from '../../use-action.ts'
import { useAnswer } from '../../use-answer.ts'
import { valueColumns } from '../../value-column.ts'
import { DaysPanel } from './revenue-days.ts'
import { SumsPanel, type SumsWindow } from './revenue-sums.ts'

type Account = WatchedAccounts['data'][number]

const REFETCH_MS = 15_000
const DAY_S = 86_400
const ROWS_SHOWN = 100

/** The ledger of the watched addresses: sums by role and mint, a chart by day, rows, and a file of them. */
export function RevenueSection(): JSX.Element {
  const [window, setWindow] = useState<SumsWindow>('7 days')
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
  const ofAccount = valueColumns<Account>(answer)
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
        ofAccount('In', 'inflow_usd', { text: usd, isStop: true }),
        ofAccount('Out', 'outflow_usd', { text: usd, isStop: true }),
        ofAccount('Rows', 'events', { isWide: true }),
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
