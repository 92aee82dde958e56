import { samePubkey } from '../../chain/pubkey.ts'
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

const MINT_BYTES = 82
const ACCOUNT_BYTES = 165
// With extensions both kinds are at least as long as an account, and the next byte states the kind.
const KIND_AT = 165
const MINT_KIND = 1
const ACCOUNT_KIND = 2
const EXTENSIONS_AT = 166

/** Reads the mint in account data; null if there is none. */
export function readMint(data: Uint8Array): MintState | null {
  const extended = data.length > KIND_AT && data[KIND_AT] === MINT_KIND
  if (data.length !== MINT_BYTES && !extended) return null
  const view = viewOf(data)
  if (data[45] !== 1) return null
  return {
    mintAuthority: optionOf(data, view, 0),
    supply: view.getBigUint64(36, true),
    decimals: data[44]!,
    isInitialized: true,
    freezeAuthority: optionOf(data, view, 46),
    extensions: extended ? extensionsOf(data, view) : []
  }
}

/** Reads the token account in account data; null if there is none or it is uninitialized. */
export function readTokenAccount(data: Uint8Array): TokenAccountState | null {
  if (!isTokenAccount(data)) return null
  const view = viewOf(data)
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

/** Whether account data is an initialized token account; reads only length and state. */
export function isTokenAccount(data: Uint8Array): boolean {
  const extended = data.length > KIND_AT && data[KIND_AT] === ACCOUNT_KIND
  if (data.length !== ACCOUNT_BYTES && !extended) return false
  return data[108] === 1 || data[108] === 2
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
