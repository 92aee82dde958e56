import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { Key, List, TenantUsage } from '../../answers.ts'
import { Bar, Panel, Table } from '../../elements.ts'
import { count, decimal } from '../../format.ts'
import { useAction } from '../../use-action.ts'
import { useAnswer } from '../../use-answer.ts'
import { valueColumns } from '../../value-column.ts'

const REFETCH_MS = 10_000
const USAGE_MS = 4_000
const TENANTS_MAX = 1_000
const KEYS_MAX = 200

/** The tenants with their use, and their keys. */
export function TenantsSection(): JSX.Element {
  const tenants = useAnswer<List<TenantUsage>>(
    callOf('/v1/admin/tenants/usage', {}, { limit: TENANTS_MAX }),
    USAGE_MS
  )
  const keys = useAnswer<List<Key>>(callOf('/v1/admin/keys', {}, { limit: KEYS_MAX }), REFETCH_MS)
  const ofTenant = valueColumns<TenantUsage>(tenants.answer)
  const ofKey = valueColumns<Key>(keys.answer)
  const most = Math.max(1, ...(tenants.answer?.body.data ?? []).map(({ answer_ms: ms }) => ms))
  const revoke = useAction<unknown>(keys.refetch)
  return h(
    'div',
    { class: 'stack' },
    h(
      Panel,
      {
        title: 'Tenants',
        id: 'tenants-title',
        problem: tenants.problem,
        isLoading: tenants.answer === null,
        onRetry: tenants.refetch
      },
      h(Table<TenantUsage>, {
        name: 'Tenants and their use',
        columns: [
          { name: 'Name', cell: ({ name }) => h('bdi', null, name) },
          ofTenant('Active keys', 'keys', { isStop: true }),
          ofTenant('Work this minute', 'work_units_this_minute'),
          ofTenant('of', 'work_limit_per_minute', { isWide: true }),
          ofTenant('Work', 'work_units', { isWide: true }),
          ofTenant('Time', 'answer_ms', { text: (ms) => `${decimal((ms ?? 0) / 1_000)} s` }),
          {
            name: ' ',
            isWide: true,
            cell: ({ name, answer_ms: ms }) => h(Bar, { pct: (ms / most) * 100, name: `Share of ${name}` })
          },
          ofTenant('Waiting', 'answers_waiting', { isWide: true }),
          ofTenant('Sockets', 'sockets'),
          ofTenant('Refused', 'work_refused', { class: (refused) => (refused === 0 ? '' : 'down') })
        ],
        rows: tenants.answer?.body.data ?? [],
        keyOf: ({ name }) => name,
        empty: 'There is no tenant.'
      })
    ),
    h(
      Panel,
      {
        title: 'Keys',
        id: 'keys-title',
        problem: keys.problem ?? revoke.problem,
        isLoading: keys.answer === null,
        onRetry: keys.refetch
      },
      h(Table<Key>, {
        name: 'Keys',
        columns: [
          { name: 'Tenant', cell: ({ tenant }) => h('bdi', null, tenant) },
          { name: 'Name', cell: ({ name }) => h('bdi', null, name) },
          { name: 'Key', cell: ({ prefix }) => h('code', null, `${prefix}…`) },
          {
            name: 'Status',
            cell: ({ status }) => h('span', { class: status === 'active' ? 'up' : 'down' }, status)
          },
          ofKey('Calls a minute', 'rate_limit_per_minute', {
            isWide: true,
            isStop: true,
            text: (limit) => (limit === null ? 'default' : count(limit))
          }),
          { name: 'Scopes', isWide: true, cell: ({ scopes }) => scopes.join(' ') },
          { name: 'Origins', isWide: true, cell: ({ cors_origins: origins }) => origins.join(' ') },
          {
            name: ' ',
            cell: ({ id, status, name }) =>
              h(
                'button',
                {
                  type: 'button',
                  disabled: status !== 'active' || revoke.isRunning,
                  onClick: () =>
                    confirm(`Revoke the key ${name}?`) &&
                    revoke.run(callOf('/v1/admin/keys/{id}', { id }, {}, 'DELETE'))
                },
                'Revoke'
              )
          }
        ],
        rows: keys.answer?.body.data ?? [],
        keyOf: ({ id }) => id,
        empty: 'There is no key.'
      })
    )
  )
}
