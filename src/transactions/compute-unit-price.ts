import { accountHashes } from '../chain/account-hash.ts'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import type { Transaction } from '../chain/transaction.ts'

const [BUDGET_BYTES, BUDGET_TEXT] = accountHashes(
  pubkeyFromBase58('ComputeBudget111111111111111111111111111111')
)
const SET_COMPUTE_UNIT_PRICE = 3
const MICRO_LAMPORTS = 1_000_000n

/**
 * Returns the price that a transaction offers in micro-lamports per compute unit, at most 2^53 - 1. Version 1 states
 * lamports and a limit instead. A transaction without compute units has no price, and counts as 0 (SIMD-0385: no
 * limit means the minimum).
 */
export function computeUnitPrice({ version, config, keys, instructions }: Transaction): number {
  if (version === 1) {
    if (config === undefined) return 0
    const { priorityFeeLamports, computeUnitLimit } = config
    if (priorityFeeLamports === null || computeUnitLimit === null || computeUnitLimit === 0) return 0
    return exact((priorityFeeLamports * MICRO_LAMPORTS) / BigInt(computeUnitLimit))
  }
  for (let i = 0; i < instructions.length; i++) {
    const { innerIndex, program } = instructions[i]!
    if (innerIndex !== null) continue
    const hash = keys.hash(program)
    if (hash !== BUDGET_BYTES && hash !== BUDGET_TEXT) continue
    const { data } = instructions[i]!
    if (data[0] !== SET_COMPUTE_UNIT_PRICE || data.length < 9) continue
    let price = 0
    for (let at = 8; at > 0; at--) price = price * 256 + data[at]!
    return Math.min(price, Number.MAX_SAFE_INTEGER)
  }
  return 0
}

const exact = (price: bigint): number =>
  price > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(price)
