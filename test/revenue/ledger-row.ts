import { WSOL } from '../../src/market/cash.ts'
import type { LedgerRow } from '../../src/revenue/ledger-reader.ts'

export const WATCHED = 'FrTqvWe21yaaAwMemRVpBYT7HsDjHpyVnxndzkxrb9PY'
export const PAYER = '3zi7ET8HFv7CbfQ87Y9ziuNidLZz7biTeG5jTusE7LUm'

/** A row of a ledger: 1.5 SOL that arrived. */
export const ROW: LedgerRow = {
  address: WATCHED,
  slot: 300,
  blockTime: 1_730_000_000,
  signature: '492ecoUSdvsw4NVRogxp139oVR3uyjs32nzwK2w32zVMQshfX3cJHayTZt29kBbuCwzpgro3v6PvtGsNP8kHtVSb',
  txIndex: 4,
  index: 0,
  account: WATCHED,
  mint: WSOL,
  isNative: true,
  decimals: 9,
  pre: 1_000_000_000n,
  post: 2_500_000_000n,
  kind: 'transfer',
  counterparty: PAYER,
  confidence: 'exact',
  feeLamports: 5_000n,
  feePayer: PAYER,
  ixIndex: 2,
  valueUsd: 255,
  feeUsd: null
}
