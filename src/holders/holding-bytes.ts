import { TOKEN_PROGRAM_NAMES, type TokenProgramName } from '../accounts/token-program.ts'
import type { Pubkey } from '../chain/pubkey.ts'

/** A wallet's balance of a token, at a price. */
export interface Holding {
  readonly mint: Pubkey
  /** Base units. */
  readonly amount: bigint
  /** Null if the mint could not be read. */
  readonly decimals: number | null
  /** Null if the mint has no price. */
  readonly priceUsd: number | null
  /** Block time of the price's trade, Unix seconds. */
  readonly priceAt: number | null
  readonly tokenProgram: TokenProgramName
  readonly accounts: number
  readonly isFrozen: boolean
  readonly valueUsd: number | null
}

/**
 * Bytes of a holding: mint, amount (u128), price, price time, value (doubles, NaN for null), accounts (u32), decimals
 * (255 for null), and flags. Numbers are little-endian.
 */
const HOLDING_BYTES = 78
const NO_DECIMALS = 255
const U64_MAX = 2n ** 64n - 1n
const FROZEN = 128

/** Packs holdings in their order. */
export function packHoldings(list: readonly Holding[]): Uint8Array {
  const bytes = new Uint8Array(list.length * HOLDING_BYTES)
  const view = new DataView(bytes.buffer)
  for (let i = 0, at = 0; i < list.length; i++, at += HOLDING_BYTES) {
    const held = list[i]!
    // Faster than a call of `set`.
    for (let byte = 0; byte < 32; byte++) bytes[at + byte] = held.mint[byte]!
    // `setBigUint64` writes only the lowest 64 bits.
    view.setBigUint64(at + 32, held.amount, true)
    if (held.amount > U64_MAX) view.setBigUint64(at + 40, held.amount >> 64n, true)
    view.setFloat64(at + 48, held.priceUsd ?? NaN, true)
    view.setFloat64(at + 56, held.priceAt ?? NaN, true)
    view.setFloat64(at + 64, held.valueUsd ?? NaN, true)
    view.setUint32(at + 72, held.accounts, true)
    bytes[at + 76] = held.decimals ?? NO_DECIMALS
    bytes[at + 77] = TOKEN_PROGRAM_NAMES.indexOf(held.tokenProgram) | (held.isFrozen ? FROZEN : 0)
  }
  return bytes
}

/** Unpacks holdings, in their order. */
export function unpackHoldings(bytes: Uint8Array): Holding[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const numberAt = (at: number): number | null => {
    const value = view.getFloat64(at, true)
    return Number.isNaN(value) ? null : value
  }
  return Array.from({ length: bytes.length / HOLDING_BYTES }, (_, i) => {
    const at = i * HOLDING_BYTES
    const decimals = bytes[at + 76]!
    const flags = bytes[at + 77]!
    return {
      mint: bytes.slice(at, at + 32),
      amount: (view.getBigUint64(at + 40, true) << 64n) | view.getBigUint64(at + 32, true),
      priceUsd: numberAt(at + 48),
      priceAt: numberAt(at + 56),
      valueUsd: numberAt(at + 64),
      accounts: view.getUint32(at + 72, true),
      decimals: decimals === NO_DECIMALS ? null : decimals,
      tokenProgram: TOKEN_PROGRAM_NAMES[flags & ~FROZEN]!,
      isFrozen: (flags & FROZEN) !== 0
    }
  })
}
