import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { uiTokenAmount } from './token-amount.ts'

/** An instruction with account indexes. */
export interface CompiledInstruction {
  readonly program: number
  readonly accounts: ArrayLike<number>
  readonly data: Uint8Array
}

/**
 * Returns the `jsonParsed` form of an instruction. It supports memos, the system program's instructions on lamports
 * and accounts, and the creation of associated token accounts. Of the token programs it supports all instructions
 * that move, mint, burn, open or close, with a single authority. Other instructions are not parsed and get addresses
 * instead of indexes, as a node writes unknown instructions.
 */
export function parseInstruction(
  { program, accounts, data }: CompiledInstruction,
  stackHeight: number,
  keys: readonly string[]
): object {
  const programId = keys[program]!
  const addresses = Array.from(accounts, (index) => keys[index]!)
  const known = PROGRAMS.get(programId)
  const parsed = known?.parse(data, addresses) ?? null
  if (known === undefined || parsed === null) {
    return { programId, accounts: addresses, data: encodeBase58(data), stackHeight }
  }
  return { program: known.name, programId, parsed, stackHeight }
}

interface ParsableProgram {
  readonly name: string
  readonly parse: (data: Uint8Array, accounts: readonly string[]) => unknown
}

/** Template of an instruction; it does not apply if data or accounts are too short. */
interface Form {
  readonly type: string
  readonly accounts: readonly string[]
  readonly bytes: number
  readonly info?: (view: DataView, data: Uint8Array) => object
}

function form(type: string, accounts: string, bytes: number, info?: Form['info']): Form {
  return { type, accounts: accounts.split(' '), bytes, ...(info === undefined ? {} : { info }) }
}

const amount = (view: DataView): object => ({ amount: view.getBigUint64(1, true).toString() })
const checked = (view: DataView): object => ({
  tokenAmount: uiTokenAmount(view.getBigUint64(1, true), view.getUint8(9))
})
const key = (data: Uint8Array, at: number): string => pubkeyToBase58(data.subarray(at, at + 32))
const lamports = (view: DataView, at: number): number => Number(view.getBigUint64(at, true))

/** Token instructions by their first byte; lengths include it. */
const TOKEN = new Map<number, Form>([
  [3, form('transfer', 'source destination authority', 9, amount)],
  [7, form('mintTo', 'mint account mintAuthority', 9, amount)],
  [8, form('burn', 'account mint authority', 9, amount)],
  [9, form('closeAccount', 'account destination owner', 1)],
  [12, form('transferChecked', 'source mint destination authority', 10, checked)],
  [14, form('mintToChecked', 'mint account mintAuthority', 10, checked)],
  [15, form('burnChecked', 'account mint authority', 10, checked)],
  [17, form('syncNative', 'account', 1)],
  [18, form('initializeAccount3', 'account mint', 33, (_view, data) => ({ owner: key(data, 1) }))],
  // The associated-token program requests only this extension.
  [21, form('getAccountDataSize', 'mint', 3, () => ({ extensionTypes: ['immutableOwner'] }))],
  [22, form('initializeImmutableOwner', 'account', 1)]
])

const INITIALIZE_MINT = new Map<number, Form>([
  [0, form('initializeMint', 'mint rentSysvar', 35, mintInfo)],
  [20, form('initializeMint2', 'mint', 35, mintInfo)]
])
const FREEZE_AUTHORITY_AT = 34

function mintInfo(_view: DataView, data: Uint8Array): object {
  const frozen = data[FREEZE_AUTHORITY_AT] === 1
  return {
    decimals: data[1]!,
    mintAuthority: key(data, 2),
    ...(frozen ? { freezeAuthority: key(data, FREEZE_AUTHORITY_AT + 1) } : {})
  }
}

/** System instructions by their first four bytes. */
const SYSTEM = new Map<number, Form>([
  [
    0,
    form('createAccount', 'source newAccount', 52, (view, data) => ({
      lamports: lamports(view, 4),
      space: lamports(view, 12),
      owner: key(data, 20)
    }))
  ],
  [1, form('assign', 'account', 36, (_view, data) => ({ owner: key(data, 4) }))],
  [2, form('transfer', 'source destination', 12, (view) => ({ lamports: lamports(view, 4) }))],
  [8, form('allocate', 'account', 12, (view) => ({ space: lamports(view, 4) }))]
])

const ASSOCIATED = new Map<number, Form>([
  [0, form('create', 'source account wallet mint systemProgram tokenProgram', 1)],
  [1, form('createIdempotent', 'source account wallet mint systemProgram tokenProgram', 1)]
])

function apply(
  form: Form | undefined,
  data: Uint8Array,
  accounts: readonly string[],
  bytes = form?.bytes
): object | null {
  if (form === undefined || data.length !== bytes || accounts.length !== form.accounts.length) return null
  const named = Object.fromEntries(form.accounts.map((name, i) => [name, accounts[i]]))
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return { type: form.type, info: { ...named, ...form.info?.(view, data) } }
}

const GET_ACCOUNT_DATA_SIZE = 21
const IMMUTABLE_OWNER = 7

function parseToken(data: Uint8Array, accounts: readonly string[]): object | null {
  if (data[0] === GET_ACCOUNT_DATA_SIZE && data[1] !== IMMUTABLE_OWNER) return null
  const mint = INITIALIZE_MINT.get(data[0] ?? -1)
  if (mint !== undefined) {
    return apply(mint, data, accounts, data[FREEZE_AUTHORITY_AT] === 1 ? mint.bytes + 32 : mint.bytes)
  }
  return apply(TOKEN.get(data[0] ?? -1), data, accounts)
}

function parseSystem(data: Uint8Array, accounts: readonly string[]): object | null {
  if (data.length < 4) return null
  const tag = new DataView(data.buffer, data.byteOffset, 4).getUint32(0, true)
  return apply(SYSTEM.get(tag), data, accounts)
}

/** Parses an associated-token instruction; empty data means `create`. */
function parseAssociated(data: Uint8Array, accounts: readonly string[]): object | null {
  return data.length === 0
    ? apply(ASSOCIATED.get(0), data, accounts, 0)
    : apply(ASSOCIATED.get(data[0]!), data, accounts)
}

function parseMemo(data: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    return null
  }
}

const MEMO: ParsableProgram = { name: 'spl-memo', parse: parseMemo }
const SPL_TOKEN: ParsableProgram = { name: 'spl-token', parse: parseToken }

const PROGRAMS = new Map<string, ParsableProgram>([
  ['11111111111111111111111111111111', { name: 'system', parse: parseSystem }],
  ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', SPL_TOKEN],
  ['TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', SPL_TOKEN],
  [
    'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
    { name: 'spl-associated-token-account', parse: parseAssociated }
  ],
  ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', MEMO],
  ['Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', MEMO]
])
