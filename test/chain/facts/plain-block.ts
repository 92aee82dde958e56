import { plainTransaction } from '../rpc/plain.ts'
import type { FactBlock } from './encoding.ts'

/** Everything that a block of facts says, for comparison. */
export function plainBlock(block: FactBlock) {
  const facts = block.facts.map((fact) => ({ ...fact, transaction: plainTransaction(fact.transaction) }))
  return { ...block, facts }
}
