import { plainTransaction } from '../rpc/plain.ts'
import type { FactBlock } from './encoding.ts'

/** Returns all content of a block of facts, for comparison. A fact has no blockhash, and does not say which accounts are writable. */
export function plainBlock(block: FactBlock) {
  const facts = block.facts.map((fact) => {
    const { writable: _, lifetime: __, ...transaction } = plainTransaction(fact.transaction)
    return { ...fact, transaction }
  })
  return { ...block, facts }
}
