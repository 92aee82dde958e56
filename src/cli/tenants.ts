import { administer } from './administer.ts'

/** Lists and creates tenants. */
export const tenants = administer('tenants', ['name', 'created_at', 'keys'], {
  list: {
    usage: 'list [--json]',
    flags: {},
    operands: 0,
    order: () => ({ method: 'GET', path: '/v1/admin/tenants?limit=1000' })
  },
  create: {
    usage: 'create NAME [--json]',
    flags: {},
    operands: 1,
    order: (_flags, [name]) => ({ method: 'POST', path: '/v1/admin/tenants', body: { name } })
  }
})
