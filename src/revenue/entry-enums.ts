/** The cause of a balance change. */
export const ENTRY_KINDS = [
  'transfer',
  'swap',
  'fee',
  'rent',
  'unwrap',
  'burn',
  'mint',
  'reward',
  'other'
] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

/**
 * How the counterparty is known. `exact`: the only party with the opposite amount. `inferred`: the pool of a swap, or
 * the largest of several.
 */
export const COUNTERPARTY_CONFIDENCES = ['exact', 'inferred', 'none'] as const
export type CounterpartyConfidence = (typeof COUNTERPARTY_CONFIDENCES)[number]
