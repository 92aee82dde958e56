import { integer, type Settings, type Values } from '../kernel/config/setting.ts'

/** Settings of the revenue ledger. */
export const REVENUE_SETTINGS = {
  revenueBackfillRps: {
    schema: integer(1, 10_000),
    fallback: '10',
    meaning:
      'requests a second that each archive node is sent for the history of watched addresses, for all tenants together'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof REVENUE_SETTINGS> {}
}
