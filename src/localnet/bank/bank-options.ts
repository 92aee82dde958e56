import type { Clock } from '../../ports.ts'

export interface LocalBankOptions {
  readonly clock: Clock
  /** Determines genesis hash, blockhashes and the faucet's key. */
  readonly seed: string
  /** Directory of the chain; if absent, the chain ends with the process. */
  readonly directory?: string
  readonly slotMs?: number
  /**
   * Number of slots whose blocks are retained, with their transactions; at least 512, because blockhashes and signatures
   * are looked up in them.
   */
  readonly retainedSlots?: number
  /** Number of durable blocks on top that make a block confirmed; less than the number for finalized. */
  readonly confirmedAfter?: number
  readonly finalizedAfter?: number
  /** Maximum number of sent transactions waiting for a block; further ones are refused. */
  readonly waitingMax?: number
  /** Addresses that have their rent-exempt minimum in the genesis of a new chain. */
  readonly genesisAccounts?: readonly Uint8Array[]
  /** Time of a new chain's genesis block, Unix milliseconds; the clock's by default. */
  readonly genesisMs?: number
}

/** A slot produced at another time than its own. */
export interface TimedSlot {
  readonly slot: number
  /** Unix milliseconds. */
  readonly timeMs: number
}

export const SLOT_MS = 400
/** Ten minutes at the usual pace. Counted in blocks, so that memory and disk are constant at any pace. */
export const RETAINED_SLOTS = 1_500
export const RETAINED_SLOTS_MIN = 512
export const WAITING_MAX = 1_000
export const FAUCET_LAMPORTS = 500_000_000_000_000_000n
