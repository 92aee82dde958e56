import { plainTransaction } from '../rpc/plain.ts'
import type { FactBlock } from './encoding.ts'

/** Returns all content of a block of facts, for comparison. */
export function plainBlock(block: FactBlock) {
  const facts = block.facts.map((fact) => ({ ...fact, transaction: plainTransaction(fact.transaction) }))
  return { ...block, facts }
}
