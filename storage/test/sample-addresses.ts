import type { Pubkey } from '../../src/chain/pubkey.ts'
import { sampleBytes } from './choices.ts'

/** Slots are not dense on the chain: every third is missing here. */
export const FIRST_SLOT = 400_000_000
export const FIRST_TIME = 1_760_000_000

/** Mints that trade in sample blocks; the first takes nearly half of all rows, the last ones few. */
export const SAMPLE_MINTS = 12
export const SAMPLE_POOLS = 4
export const SAMPLE_CASHES = 2
export const SAMPLE_WALLETS = 50

export const sampleMint = (n: number): Pubkey => sampleBytes(32, 1_000 + n)
export const samplePool = (n: number): Pubkey => sampleBytes(32, 2_000 + n)
export const sampleCash = (n: number): Pubkey => sampleBytes(32, 3_000 + n)
export const sampleWallet = (n: number): Pubkey => sampleBytes(32, n)
export const slotAt = (index: number): number => FIRST_SLOT + index + Math.floor(index / 2)
export const timeAt = (index: number): number => FIRST_TIME + index * 25
