/** Calls that cost more than one unit of a quota, because they read more than one value. */
export const WEIGHTED_CALLS = ['program-accounts', 'holders'] as const
export type WeightedCall = (typeof WEIGHTED_CALLS)[number]

/** Units of a quota that each weighted call costs. */
export type CallWeights = Readonly<Record<WeightedCall, number>>

/** Settings of the weights, for documents. */
export const WEIGHT_SETTINGS: Readonly<Record<WeightedCall, string>> = {
  'program-accounts': 'MILLRACE_PROGRAM_ACCOUNTS_WEIGHT',
  holders: 'MILLRACE_HOLDERS_WEIGHT'
}

/** Every call costs one unit. */
export const UNWEIGHTED: CallWeights = { 'program-accounts': 1, holders: 1 }

/** Returns the units of a call; at most a whole quota, so that a key with a small quota can make the call at all. */
export const unitsOf = (weight: number, quota: number): number => Math.max(1, Math.min(weight, quota))
