import { isZeroPubkey, samePubkey } from '../../chain/pubkey.ts'
import { TOKEN, TOKEN_2022 } from '../programs.ts'

/** The states of the token programs as stored in account data (spl-token, state.rs). */

export type TokenProgram = 'spl-token' | 'spl-token-2022'

export function tokenProgramOf(owner: Uint8Array): TokenProgram | null {
  if (samePubkey(owner, TOKEN)) return 'spl-token'
  return samePubkey(owner, TOKEN_2022) ? 'spl-token-2022' : null
}

export interface MintState {
  readonly mintAuthority: Uint8Array | null
  readonly supply: bigint
  readonly decimals: number
  readonly isInitialized: boolean
  readonly freezeAuthority: Uint8Array | null
  /** Numbers of the extensions, in order; empty in the classic program. */
  readonly extensions: readonly number[]
}

export interface TokenAccountState {
  readonly mint: Uint8Array
  readonly owner: Uint8Array
  readonly amount: bigint
  readonly delegate: Uint8Array | null
  readonly state: 'initialized' | 'frozen'
  /** Lamports of a native account that are not tokens; null for other accounts. */
  readonly nativeReserve: bigint | null
  readonly delegatedAmount: bigint
  readonly closeAuthority: Uint8Array | null
  readonly extensions: readonly number[]
}

export interface MultisigState {
  readonly required: number
  readonly valid: number
  readonly signers: readonly Uint8Array[]
}

const MINT_BYTES = 82
const ACCOUNT_BYTES = 165
/** Length of a multisig; no account with extensions has this length. */
const MULTISIG_BYTES = 355
const SIGNERS_MAX = 11
// With extensions both kinds are at least as long as an account, and the next byte states the kind.
const KIND_AT = 165
const MINT_KIND = 1
const ACCOUNT_KIND = 2
const EXTENSIONS_AT = 166

/** Reads the mint in account data; null if the data is not a mint. */
export function readMint(data: Uint8Array): MintState | null {
  const extended = isExtended(data, MINT_KIND)
  if (data.length !== MINT_BYTES && !extended) return null
  // The bytes between a mint and the kind of its extensions are zero.
  if (extended && data.subarray(MINT_BYTES, KIND_AT).some((byte) => byte !== 0)) return null
  const view = viewOf(data)
  if (data[45] !== 1 || !areOptions(view, [0, 46])) return null
  return {
    mintAuthority: optionOf(data, view, 0),
    supply: view.getBigUint64(36, true),
    decimals: data[44]!,
    isInitialized: true,
    freezeAuthority: optionOf(data, view, 46),
    extensions: extended ? extensionsOf(data, view) : []
  }
}

/** Reads the token account in account data; null if the data is not a token account, or is uninitialized. */
export function readTokenAccount(data: Uint8Array): TokenAccountState | null {
  if (!isTokenAccount(data) || data[108]! > 2) return null
  const view = viewOf(data)
  if (!areOptions(view, [72, 109, 129])) return null
  return {
    mint: data.subarray(0, 32),
    owner: data.subarray(32, 64),
    amount: view.getBigUint64(64, true),
    delegate: optionOf(data, view, 72),
    state: data[108] === 2 ? 'frozen' : 'initialized',
    nativeReserve: view.getUint32(109, true) === 1 ? view.getBigUint64(113, true) : null,
    delegatedAmount: view.getBigUint64(121, true),
    closeAuthority: optionOf(data, view, 129),
    extensions: data.length > ACCOUNT_BYTES ? extensionsOf(data, view) : []
  }
}

/** Reads the multisig in account data; null if the data is not a multisig, or is uninitialized. */
export function readMultisig(data: Uint8Array): MultisigState | null {
  if (data.length !== MULTISIG_BYTES || data[2] !== 1) return null
  const keys = Array.from({ length: SIGNERS_MAX }, (_, i) => data.subarray(3 + 32 * i, 35 + 32 * i))
  return { required: data[0]!, valid: data[1]!, signers: keys.filter((key) => !isZeroPubkey(key)) }
}

/** Tells whether account data is an initialized token account (filter `tokenAccountState`); reads only length and state. */
export function isTokenAccount(data: Uint8Array): boolean {
  return isTokenAccountIn(data, 0, data.length)
}

/** Tells whether a range of bytes is the data of an initialized token account. */
export function isTokenAccountIn(bytes: Uint8Array, from: number, to: number): boolean {
  const length = to - from
  const isAccount =
    length === ACCOUNT_BYTES ||
    (length > KIND_AT && length !== MULTISIG_BYTES && bytes[from + KIND_AT] === ACCOUNT_KIND)
  return isAccount && bytes[from + 108] !== 0
}

function isExtended(data: Uint8Array, kind: number): boolean {
  return data.length > KIND_AT && data.length !== MULTISIG_BYTES && data[KIND_AT] === kind
}

/** Tells whether the tags of optional values are valid. */
function areOptions(view: DataView, places: readonly number[]): boolean {
  return places.every((at) => view.getUint32(at, true) <= 1)
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}

function optionOf(data: Uint8Array, view: DataView, at: number): Uint8Array | null {
  return view.getUint32(at, true) === 1 ? data.subarray(at + 4, at + 36) : null
}

/** Reads the types of extensions: type and length, two bytes each, precede every value; zero ends the list. */
function extensionsOf(data: Uint8Array, view: DataView): number[] {
  const found: number[] = []
  let at = EXTENSIONS_AT
  while (at + 4 <= data.length) {
    const type = view.getUint16(at, true)
    if (type === 0) break
    found.push(type)
    at += 4 + view.getUint16(at + 2, true)
  }
  return found
}
