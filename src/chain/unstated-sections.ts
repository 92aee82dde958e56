import type { UnstatedSection } from './transaction.ts'

/** Sections of a transaction that a source has stated. */
export interface StatedSections {
  readonly hasInner: boolean
  readonly hasTokenBalances: boolean
  readonly keyCount: number
  /** Lengths of the lists of lamports, one number for each key if they are stated. */
  readonly preBalanceCount: number
  readonly postBalanceCount: number
}

/** Lists the sections that a source does not state; undefined if all are stated, as in most transactions. */
export function unstatedSections(stated: StatedSections): readonly UnstatedSection[] | undefined {
  const { hasInner, hasTokenBalances, keyCount, preBalanceCount, postBalanceCount } = stated
  const hasBalances = preBalanceCount >= keyCount && postBalanceCount >= keyCount
  if (hasInner && hasTokenBalances && hasBalances) return undefined
  return [
    ...(hasInner ? [] : (['inner-instructions'] as const)),
    ...(hasBalances ? [] : (['balances'] as const)),
    ...(hasTokenBalances ? [] : (['token-balances'] as const))
  ]
}
