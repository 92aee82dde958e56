import type { Pubkey } from '../../src/chain/pubkey.ts'

/** Returns a distinct address for each number. */
export const key = (number: number): Pubkey => new Uint8Array(32).fill(number)

const viewOf = (data: Uint8Array): DataView => new DataView(data.buffer)

function putKey(data: Uint8Array, at: number, value: Pubkey | undefined): void {
  if (value === undefined) return
  data[at] = 1
  data.set(value, at + 4)
}

export interface SampleMint {
  readonly supply: bigint
  readonly decimals: number
  readonly mintAuthority?: Pubkey
  readonly freezeAuthority?: Pubkey
}

/** Returns the data of a mint without extensions. */
export function mintData({ supply, decimals, mintAuthority, freezeAuthority }: SampleMint): Uint8Array {
  const data = new Uint8Array(82)
  putKey(data, 0, mintAuthority)
  viewOf(data).setBigUint64(36, supply, true)
  data[44] = decimals
  data[45] = 1
  putKey(data, 46, freezeAuthority)
  return data
}

export interface SampleTokenAccount {
  readonly mint: Pubkey
  readonly owner: Pubkey
  readonly amount: bigint
  /** 1 for initialized, 2 for frozen. */
  readonly state?: number
  readonly delegate?: Pubkey
  readonly delegatedAmount?: bigint
  readonly nativeReserve?: bigint
  readonly closeAuthority?: Pubkey
}

/** Returns the data of a token account without extensions. */
export function tokenAccountData(sample: SampleTokenAccount): Uint8Array {
  const data = new Uint8Array(165)
  data.set(sample.mint, 0)
  data.set(sample.owner, 32)
  viewOf(data).setBigUint64(64, sample.amount, true)
  putKey(data, 72, sample.delegate)
  data[108] = sample.state ?? 1
  if (sample.nativeReserve !== undefined) {
    data[109] = 1
    viewOf(data).setBigUint64(113, sample.nativeReserve, true)
  }
  viewOf(data).setBigUint64(121, sample.delegatedAmount ?? 0n, true)
  putKey(data, 129, sample.closeAuthority)
  return data
}

/** Returns the data of an account of Token-2022 with extensions, as type and value. */
export function extended(
  base: Uint8Array,
  kind: 'mint' | 'account',
  extensions: readonly (readonly [type: number, value: Uint8Array])[]
): Uint8Array {
  const data = new Uint8Array(166 + extensions.reduce((sum, [, value]) => sum + 4 + value.length, 0))
  data.set(base)
  data[165] = kind === 'mint' ? 1 : 2
  let at = 166
  for (const [type, value] of extensions) {
    viewOf(data).setUint16(at, type, true)
    viewOf(data).setUint16(at + 2, value.length, true)
    data.set(value, at + 4)
    at += 4 + value.length
  }
  return data
}

const text = (value: string, bytes = 0): Uint8Array => {
  const encoded = new TextEncoder().encode(value)
  const data = new Uint8Array(4 + Math.max(bytes, encoded.length))
  viewOf(data).setUint32(0, data.length - 4, true)
  data.set(encoded, 4)
  return data
}

export interface SampleNames {
  readonly mint: Pubkey
  readonly name: string
  readonly symbol: string
  readonly uri: string
  readonly authority?: Pubkey
}

/** Returns the value of the extension `token_metadata`. */
export function tokenMetadataValue({ mint, name, symbol, uri, authority }: SampleNames): Uint8Array {
  return Uint8Array.from([
    ...(authority ?? new Uint8Array(32)),
    ...mint,
    ...text(name),
    ...text(symbol),
    ...text(uri),
    ...[0, 0, 0, 0]
  ])
}

/** Returns the data of a metadata account of Metaplex, with texts padded as the program pads them. */
export function metaplexData(
  sample: SampleNames & { readonly creators?: number; readonly isMutable?: boolean }
): Uint8Array {
  const { mint, name, symbol, uri, authority, creators = 0, isMutable = true } = sample
  const list = creators === 0 ? [0] : [1, creators, 0, 0, 0, ...new Uint8Array(34 * creators).fill(1)]
  const head = Uint8Array.from([4, ...(authority ?? new Uint8Array(32)), ...mint])
  const body = [
    ...text(name, 32),
    ...text(symbol, 10),
    ...text(uri, 200),
    0,
    0,
    ...list,
    1,
    isMutable ? 1 : 0
  ]
  const data = new Uint8Array(607)
  data.set([...head, ...body])
  return data
}
