import { createHash } from 'node:crypto'
import type { Pubkey } from '../src/chain/pubkey.ts'

/** Mints of one request. */
export const BATCH = 100
/** Batches of mints that the node has. */
export const BATCHES = 400
export const MINTS = BATCH * BATCHES

/** Returns the address of a made mint. */
export const mintOf = (n: number): Pubkey => new Uint8Array(createHash('sha256').update(`mint ${n}`).digest())

/** Whether a made mint is one of Token-2022 with its names inside; the others have them in an account of Metaplex. */
export const isToken2022 = (n: number): boolean => n % 4 === 0
