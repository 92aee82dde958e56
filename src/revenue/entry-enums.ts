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

/** How the counterparty is known: the only one with the opposite amount, the pool of a swap or the largest of several, or not at all. */
export const COUNTERPARTY_CONFIDENCES = ['exact', 'inferred', 'none'] as const
export type CounterpartyConfidence = (typeof COUNTERPARTY_CONFIDENCES)[number]
