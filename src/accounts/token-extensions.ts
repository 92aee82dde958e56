import { refused, type Refused } from './refused.ts'

/** The kinds of account that a token program has; an extension belongs to one of them. */
export type TokenAccountKind = 'mint' | 'account'

/**
 * Extensions of Token-2022 by number: name, kind of account, and the length of the value in bytes if it is fixed. Names
 * are those of `jsonParsed`, but in snake case.
 */
// prettier-ignore
const EXTENSIONS: readonly (readonly [name: string, kind: TokenAccountKind, bytes?: number])[] = [
  ['uninitialized', 'mint'],
  ['transfer_fee_config', 'mint', 108],
  ['transfer_fee_amount', 'account', 8],
  ['mint_close_authority', 'mint', 32],
  ['confidential_transfer_mint', 'mint'],
  ['confidential_transfer_account', 'account'],
  ['default_account_state', 'mint', 1],
  ['immutable_owner', 'account', 0],
  ['memo_transfer', 'account', 1],
  ['non_transferable', 'mint', 0],
  ['interest_bearing_config', 'mint', 52],
  ['cpi_guard', 'account', 1],
  ['permanent_delegate', 'mint', 32],
  ['non_transferable_account', 'account', 0],
  ['transfer_hook', 'mint', 64],
  ['transfer_hook_account', 'account', 1],
  ['confidential_transfer_fee_config', 'mint'],
  ['confidential_transfer_fee_amount', 'account'],
  ['metadata_pointer', 'mint', 64],
  ['token_metadata', 'mint'],
  ['group_pointer', 'mint', 64],
  ['token_group', 'mint', 80],
  ['group_member_pointer', 'mint', 64],
  ['token_group_member', 'mint', 72],
  ['confidential_mint_burn', 'mint'],
  ['scaled_ui_amount_config', 'mint', 56],
  ['pausable_config', 'mint', 33],
  ['pausable_account', 'account', 0],
  ['permissioned_burn', 'mint', 32]
]

/** An extension of a mint or token account. One newer than this service is named `unknown_` and its number. */
export interface TokenExtension {
  readonly type: number
  readonly name: string
  readonly value: Uint8Array
}

const NONE: readonly TokenExtension[] = []
const KIND_AT = 165
const EXTENSIONS_AT = 166
const KINDS: Readonly<Record<TokenAccountKind, number>> = { mint: 1, account: 2 }
/** Length of a multisig account; the token program never gives this length to another kind of account. */
const MULTISIG_BYTES = 355

/**
 * Reads the extensions of an account, in their order. An account of `baseBytes` has none. The bytes between the base
 * and the kind of account must be zero. Refuses what the token program refuses, extensions of the other kind, and
 * wrong lengths.
 */
export function readExtensions(
  data: Uint8Array,
  baseBytes: number,
  kind: TokenAccountKind
): readonly TokenExtension[] | Refused {
  if (data.length === baseBytes) return NONE
  if (data.length <= KIND_AT || data.length === MULTISIG_BYTES) return refused(`has ${data.length} bytes`)
  if (data[KIND_AT] !== KINDS[kind]) return refused(`is of kind ${data[KIND_AT]}, not ${KINDS[kind]}`)
  for (let at = baseBytes; at < KIND_AT; at++)
    if (data[at] !== 0) return refused('has bytes between its base and its extensions')
  return readEntries(data, kind)
}

/** Reads entries of type u16, length u16, value. Type zero ends them, as do fewer bytes than a type has. */
function readEntries(data: Uint8Array, kind: TokenAccountKind): readonly TokenExtension[] | Refused {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const found: TokenExtension[] = []
  let at = EXTENSIONS_AT
  while (at + 2 <= data.length) {
    const type = view.getUint16(at, true)
    if (type === 0) break
    if (at + 4 > data.length) return refused(`ends in the length of extension ${type}`)
    const bytes = view.getUint16(at + 2, true)
    const end = at + 4 + bytes
    if (end > data.length) return refused(`ends in the value of extension ${type}`)
    if (found.some((each) => each.type === type)) return refused(`has extension ${type} twice`)
    const [name = `unknown_${type}`, owner = kind, fixed = bytes] = EXTENSIONS[type] ?? []
    if (owner !== kind) return refused(`has extension ${name}, which belongs to the other kind of account`)
    if (fixed !== bytes) return refused(`has extension ${name} with ${bytes} bytes, not ${fixed}`)
    found.push({ type, name, value: data.subarray(at + 4, end) })
    at = end
  }
  return found
}

/** Returns the value of an extension by its name; null if the account does not have the extension. */
export const valueOf = (extensions: readonly TokenExtension[], name: string): Uint8Array | null =>
  extensions.find((each) => each.name === name)?.value ?? null
