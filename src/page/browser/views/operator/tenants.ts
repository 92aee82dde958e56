import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { Key, List, Tenant } from '../../answers.ts'
import { Age, Panel, Table } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { count } from '../../format.ts'
import { useAction } from '../../use-action.ts'
import { useAnswer } from '../../use-answer.ts'

const REFETCH_MS = 10_000
const KEYS_MAX = 200

/** The tenants and their keys. */
export function TenantsSection(): JSX.Element {
  const tenants = useAnswer<List<Tenant>>(callOf('/v1/admin/tenants'), REFETCH_MS)
  const keys = useAnswer<List<Key>>(callOf('/v1/admin/keys', {}, { limit: KEYS_MAX }), REFETCH_MS)
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
      h(Table<Tenant>, {
        name: 'Tenants',
        columns: [
          { name: 'Name', cell: ({ name }) => h('bdi', null, name) },
          {
            name: 'Active keys',
            isNumber: true,
            cell: (tenant) =>
              h(Value, { from: originsOf(tenants.answer!)('data[].keys', tenant.keys) }, count(tenant.keys))
          },
          { name: 'Created', cell: ({ created_at: at }) => h(Age, { ms: Date.parse(at) }) }
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
          {
            name: 'Calls a minute',
            isNumber: true,
            isWide: true,
            cell: ({ rate_limit_per_minute: limit }) => (limit === null ? 'default' : count(limit))
          },
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
