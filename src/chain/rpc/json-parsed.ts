import { isU64Text } from '../chain-numbers.ts'
import { pubkeyFromBase58 } from '../pubkey.ts'
import { isCount, isObject, keyTextOf, listOrEmpty, Unreadable, type JsonObject } from './fields.ts'

/** The binary form of an instruction that the node has parsed. Accounts are base58, in the program's order. */
export interface EncodedInstruction {
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

/**
 * Turns a parsed instruction of `jsonParsed` back into accounts and data. Covers memo, the system program, associated
 * token accounts, and every token instruction that moves or names tokens. Any other instruction becomes empty and so
 * moves nothing. Throws Unreadable if a covered instruction lacks a field.
 */
export function encodeParsed(program: unknown, parsed: unknown): EncodedInstruction {
  if (program === 'spl-memo' && typeof parsed === 'string') return { accounts: [], data: utf8(parsed) }
  if (!isObject(parsed)) return NOTHING
  const form = FORMS.get(program)?.get(parsed.type)
  if (form === undefined) return NOTHING
  const info = isObject(parsed.info) ? parsed.info : {}
  const { accounts, data } = form
  const bytes: number[] = []
  for (const part of data) for (const byte of typeof part === 'number' ? [part] : part(info)) bytes.push(byte)
  return {
    accounts: [...accounts.flatMap((account) => accountTexts(info, account)), ...coSigners(info)],
    data: Uint8Array.from(bytes)
  }
}

const NOTHING: EncodedInstruction = { accounts: [], data: new Uint8Array(0) }

type Part = number | ((info: JsonObject) => Iterable<number>)

/** Template of an instruction: accounts by field name, `?` after optional ones; data as constant bytes and fields. */
interface Form {
  readonly accounts: readonly string[]
  readonly data: readonly Part[]
}

function form(accounts: string, ...data: Part[]): Form {
  return { accounts: accounts.split(' '), data }
}

const TOKEN = new Map<unknown, Form>([
  [
    'initializeMint',
    form('mint rentSysvar', 0, u8('decimals'), pubkey('mintAuthority'), option('freezeAuthority'))
  ],
  ['initializeAccount', form('account mint owner rentSysvar', 1)],
  ['transfer', form('source destination authority', 3, amount)],
  ['setAuthority', form('account|mint authority', 6, authorityType, option('newAuthority'))],
  ['approve', form('source delegate owner', 4, amount)],
  ['revoke', form('source owner', 5)],
  ['mintTo', form('mint account mintAuthority', 7, amount)],
  ['burn', form('account mint authority', 8, amount)],
  ['closeAccount', form('account destination owner', 9)],
  ['freezeAccount', form('account mint freezeAuthority', 10)],
  ['thawAccount', form('account mint freezeAuthority', 11)],
  ['transferChecked', form('source mint destination authority', 12, amount, decimals)],
  ['approveChecked', form('source mint delegate owner', 13, amount, decimals)],
  ['mintToChecked', form('mint account mintAuthority', 14, amount, decimals)],
  ['burnChecked', form('account mint authority', 15, amount, decimals)],
  ['initializeAccount2', form('account mint rentSysvar', 16, pubkey('owner'))],
  ['syncNative', form('account', 17)],
  ['initializeAccount3', form('account mint', 18, pubkey('owner'))],
  ['initializeMint2', form('mint', 20, u8('decimals'), pubkey('mintAuthority'), option('freezeAuthority'))],
  ['getAccountDataSize', form('mint', 21, extensionTypes)],
  ['initializeImmutableOwner', form('account', 22)],
  ['initializeMintCloseAuthority', form('mint', 25, option('newAuthority'))],
  ['transferCheckedWithFee', form('source mint destination authority', 26, 1, amount, decimals, feeAmount)],
  // The source accounts of withdrawn fees are left out: their balances do not change.
  ['withdrawWithheldTokensFromMint', form('mint feeRecipient withdrawWithheldAuthority', 26, 2)],
  ['withdrawWithheldTokensFromAccounts', form('mint feeRecipient withdrawWithheldAuthority', 26, 3, 0)],
  ['withdrawExcessLamports', form('source destination authority', 38)],
  ['initializeMetadataPointer', form('mint', 39, 0, zeroable('authority'), zeroable('metadataAddress'))],
  ['unwrapLamports', form('source destination authority', 45, optionalAmount)],
  [
    'initializeTokenMetadata',
    form(
      'metadata updateAuthority mint mintAuthority',
      ...[210, 225, 30, 162, 88, 184, 77, 141],
      string32('name'),
      string32('symbol'),
      string32('uri')
    )
  ]
])

const SYSTEM = new Map<unknown, Form>([
  ['createAccount', form('source newAccount', ...u32(0), u64('lamports'), u64('space'), pubkey('owner'))],
  ['assign', form('account', ...u32(1), pubkey('owner'))],
  ['transfer', form('source destination', ...u32(2), u64('lamports'))],
  [
    'createAccountWithSeed',
    form(
      'source newAccount base!source',
      ...u32(3),
      pubkey('base'),
      string64('seed'),
      u64('lamports'),
      u64('space'),
      pubkey('owner')
    )
  ],
  ['advanceNonce', form('nonceAccount recentBlockhashesSysvar nonceAuthority', ...u32(4))],
  [
    'withdrawFromNonce',
    form(
      'nonceAccount destination recentBlockhashesSysvar rentSysvar nonceAuthority',
      ...u32(5),
      u64('lamports')
    )
  ],
  [
    'initializeNonce',
    form('nonceAccount recentBlockhashesSysvar rentSysvar', ...u32(6), pubkey('nonceAuthority'))
  ],
  ['authorizeNonce', form('nonceAccount nonceAuthority', ...u32(7), pubkey('newAuthorized'))],
  ['allocate', form('account', ...u32(8), u64('space'))],
  [
    'allocateWithSeed',
    form('account base', ...u32(9), pubkey('base'), string64('seed'), u64('space'), pubkey('owner'))
  ],
  ['assignWithSeed', form('account base', ...u32(10), pubkey('base'), string64('seed'), pubkey('owner'))],
  [
    'transferWithSeed',
    form(
      'source sourceBase destination',
      ...u32(11),
      u64('lamports'),
      string64('sourceSeed'),
      pubkey('sourceOwner')
    )
  ]
])

const ASSOCIATED_ACCOUNTS = 'source account wallet mint systemProgram tokenProgram rentSysvar?'

const ASSOCIATED = new Map<unknown, Form>([
  // Empty data and a zero byte both mean `create`; their parsed forms are identical.
  ['create', form(ASSOCIATED_ACCOUNTS)],
  ['createIdempotent', form(ASSOCIATED_ACCOUNTS, 1)],
  ['recoverNested', form('nestedSource nestedMint destination nestedOwner ownerMint wallet tokenProgram', 2)]
])

/**
 * Forms by the node's name for the program, then by instruction type. Nodes may list Token-2022 under the token
 * program's name.
 */
const FORMS = new Map<unknown, ReadonlyMap<unknown, Form>>([
  ['spl-token', TOKEN],
  ['spl-token-2022', TOKEN],
  ['system', SYSTEM],
  ['spl-associated-token-account', ASSOCIATED]
])

/**
 * Resolves one account of a form: `a|b` is the first present, `a?` is optional, `a!b` is omitted if it equals b. A
 * multisig authority has its own field, such as `multisigAuthority`.
 */
function accountTexts(info: JsonObject, entry: string): string[] {
  const [name = '', unlessEqual] = entry.replace('?', '').split('!')
  const names = name.split('|')
  names.push(`multisig${name.charAt(0).toUpperCase()}${name.slice(1)}`)
  const value = names.map((each) => info[each]).find((each) => each !== undefined)
  if (value === undefined && entry.endsWith('?')) return []
  if (unlessEqual !== undefined && value === info[unlessEqual]) return []
  return [keyTextOf(value, `parsed.info.${name}`)]
}

/** Returns the members of a multisig that signed; they follow all other accounts. */
function coSigners({ signers }: JsonObject): string[] {
  return listOrEmpty(signers, 'parsed.info.signers').map((signer) => keyTextOf(signer, 'parsed.info.signers'))
}

function u32(value: number): number[] {
  return littleEndian(BigInt(value), 4)
}

function u8(name: string): Part {
  return (info) => {
    const value = info[name]
    if (!isCount(value) || value > 255) throw new Unreadable(`parsed.info.${name}`)
    return [value]
  }
}

function u64(name: string): Part {
  return (info) => u64Bytes(info[name], name)
}

function pubkey(name: string): Part {
  return (info) => pubkeyFromBase58(keyTextOf(info[name], `parsed.info.${name}`))
}

/** Writes a tag byte, and the key if it is present. */
function option(name: string): Part {
  const some = pubkey(name) as (info: JsonObject) => Iterable<number>
  return (info) => (isAbsent(info[name]) ? [0] : [1, ...some(info)])
}

/** Writes the key, or 32 zero bytes if it is absent. */
function zeroable(name: string): Part {
  const some = pubkey(name) as (info: JsonObject) => Iterable<number>
  return (info) => (isAbsent(info[name]) ? new Uint8Array(32) : some(info))
}

/** Writes text after its length in 4 bytes (Borsh). */
function string32(name: string): Part {
  return (info) => lengthPrefixed(info[name], name, 4)
}

function string64(name: string): Part {
  return (info) => lengthPrefixed(info[name], name, 8)
}

/** Reads a token amount. Checked instructions state it with its decimals; some services do so for plain ones too. */
function amount(info: JsonObject): number[] {
  const { amount = isObject(info.tokenAmount) ? info.tokenAmount.amount : undefined } = info
  return u64Bytes(amount, 'amount')
}

function optionalAmount(info: JsonObject): number[] {
  return isAbsent(info.amount) ? [0] : [1, ...u64Bytes(info.amount, 'amount')]
}

function feeAmount(info: JsonObject): number[] {
  const { feeAmount } = info
  return u64Bytes(isObject(feeAmount) ? feeAmount.amount : feeAmount, 'feeAmount')
}

function decimals({ tokenAmount }: JsonObject): number[] {
  const value = isObject(tokenAmount) ? tokenAmount.decimals : undefined
  if (!isCount(value) || value > 255) throw new Unreadable('parsed.info.tokenAmount.decimals')
  return [value]
}

const AUTHORITY_TYPES: readonly unknown[] = ['mintTokens', 'freezeAccount', 'accountOwner', 'closeAccount']

function authorityType({ authorityType }: JsonObject): number[] {
  const type = AUTHORITY_TYPES.indexOf(authorityType)
  // Unlisted types are Token-2022 extension authorities, which move nothing that is read here.
  return [type === -1 ? 255 : type]
}

const IMMUTABLE_OWNER = 7

/** Writes the extension types. An associated account requests only `immutableOwner`; other lists do not matter here. */
function extensionTypes({ extensionTypes }: JsonObject): number[] {
  return listOrEmpty(extensionTypes, 'parsed.info.extensionTypes').includes('immutableOwner')
    ? [IMMUTABLE_OWNER, 0]
    : []
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

/** Writes a u64. Nodes state it as digits, or as a number if it fits one. */
function u64Bytes(value: unknown, name: string): number[] {
  if (!isU64Text(value) && !isCount(value)) throw new Unreadable(`parsed.info.${name}`)
  return littleEndian(BigInt(value), 8)
}

function littleEndian(value: bigint, size: number): number[] {
  return Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn))
}

function lengthPrefixed(value: unknown, name: string, size: number): number[] {
  if (typeof value !== 'string') throw new Unreadable(`parsed.info.${name}`)
  const bytes = utf8(value)
  return [...littleEndian(BigInt(bytes.length), size), ...bytes]
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
