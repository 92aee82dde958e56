import type { Product } from './product.ts'

/** The ledger of watched addresses. Gateways serve it, and the process that ingests writes it. */
export const REVENUE: Product = {
  name: 'revenue',
  roles: ['ingest', 'gateway'],
  settings: {},
  channels: ['revenue']
}
