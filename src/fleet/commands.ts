import { LISTED_PRODUCTS } from '../kernel/config/listed-products.ts'
import { requestsOf, SERVICE, type Commands, type Row } from '../kernel/cli/command.ts'

const request = requestsOf({
  ...SERVICE,
  details: 'Sends a request to a running service. The key needs the scope `admin`.'
})

export const FLEET_COMMANDS: Commands = {
  fleet: {
    ...request({
      summary: 'Lists the processes of a service with their roles, versions, shards and lag.',
      examples: ['millrace fleet --key $KEY', 'millrace fleet --json --key $KEY'],
      endpoint: async () => (await import('./routes/admin-fleet.ts')).showFleet,
      columns: 'name roles products version since slot lag shards differs state',
      lines: lineOf
    }),
    position: 145
  }
}

/** Returns the products of a gateway as a list, or `all`; empty for a process without the role. */
const productsText = (products: readonly string[]): string =>
  products.length === LISTED_PRODUCTS.length ? 'all' : products.join(',')

/** Returns the fields of a process for one line of a table. */
function lineOf(row: Row): Row {
  const shards = Object.entries((row.shards ?? {}) as Readonly<Record<string, readonly string[]>>)
  return {
    name: row.name,
    roles: (row.roles as readonly string[]).join(','),
    products: productsText((row.products ?? []) as readonly string[]),
    version: row.version,
    since: new Date(Number(row.started_at)).toISOString(),
    slot: row.slot,
    lag: row.lag_slots,
    shards: shards.map(([product, names]) => `${product}:${names.length}`).join(' '),
    differs: (row.differs as readonly string[]).join(','),
    state: row.state
  }
}
