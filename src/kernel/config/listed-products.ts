/** The products that a gateway can have alone, in the order of lists. */
export const LISTED_PRODUCTS = [
  'data',
  'stream',
  'webhooks',
  'transactions',
  'accounts',
  'holders',
  'program-accounts',
  'revenue',
  'rpc'
] as const
