import { h, type JSX } from 'preact'
import { Sections } from '../sections.ts'
import { AccountSection } from './tenant/account.ts'
import { CoverageSection } from './tenant/coverage.ts'
import { RevenueSection } from './tenant/revenue.ts'
import { StreamSection } from './tenant/stream.ts'
import { TransactionsSection } from './tenant/transactions.ts'
import { WebhooksSection } from './tenant/webhooks.ts'

const SECTIONS = {
  account: ['Key and quota', AccountSection],
  stream: ['Stream', StreamSection],
  webhooks: ['Webhooks', WebhooksSection],
  transactions: ['Transactions', TransactionsSection],
  revenue: ['Revenue', RevenueSection],
  coverage: ['Coverage', CoverageSection]
} as const

/** The possessions of a tenant: its key, webhooks, transactions and revenue, and actions on them. */
export function TenantView({ argument }: { readonly argument: string }): JSX.Element {
  return h(Sections, { view: 'tenant', name: 'Tenant', sections: SECTIONS, chosen: argument })
}
