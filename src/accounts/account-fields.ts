import { ByteReader } from '../chain/codec.ts'
import type { Pubkey } from '../chain/pubkey.ts'

/** Reads little-endian fields of account data by their offset in bytes. The caller has checked the length. */
export const u64At = (data: Uint8Array, at: number): bigint => new ByteReader(data, at).u64()

export const i64At = (data: Uint8Array, at: number): bigint => new ByteReader(data, at).i64()

export const u128At = (data: Uint8Array, at: number): bigint => u64At(data, at) | (u64At(data, at + 8) << 64n)

export const keyAt = (data: Uint8Array, at: number): Pubkey => data.slice(at, at + 32)

/** Tells whether data starts with a discriminator (hexadecimal), and has a minimum length in bytes. */
export const isKind = (data: Uint8Array, discriminatorHex: string, bytesMin: number): boolean =>
  data.length >= bytesMin && data.subarray(0, discriminatorHex.length / 2).toHex() === discriminatorHex
