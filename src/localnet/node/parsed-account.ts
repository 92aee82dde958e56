import { pubkeyFromBase58, pubkeyToBase58, samePubkey } from '../../chain/pubkey.ts'
import type { LocalAccount } from '../chain.ts'
import { LOOKUP_TABLE, SYSTEM } from '../programs.ts'
import { uiTokenAmount } from './token-amount.ts'
import { readMint, readMultisig, readTokenAccount, tokenProgramOf } from './token-state.ts'

const LOADER = pubkeyFromBase58('BPFLoaderUpgradeab1e11111111111111111111111')

/** Returns the decimals of a mint; null if the account is not a mint. */
export type DecimalsOf = (mint: Uint8Array) => number | null

/**
 * Returns the `jsonParsed` form of account data: mints, token accounts and multisigs of both token programs,
 * nonces, programs, and lookup tables. Null for all other accounts, and for a token account whose mint is missing: a node
 * then answers with base64.
 */
export function parseAccount(
  { owner, data }: Pick<LocalAccount, 'owner' | 'data'>,
  decimalsOf: DecimalsOf
): object | null {
  const tokenProgram = tokenProgramOf(owner)
  if (tokenProgram !== null) {
    const parsed = parseMint(data) ?? parseTokenAccount(data, decimalsOf) ?? parseMultisig(data)
    return parsed === null ? null : { parsed, program: tokenProgram, space: data.length }
  }
  if (samePubkey(owner, SYSTEM)) {
    const parsed = parseNonce(data)
    return parsed === null ? null : { parsed, program: 'nonce', space: data.length }
  }
  if (samePubkey(owner, LOADER)) {
    const parsed = parseProgram(data)
    return parsed === null ? null : { parsed, program: 'bpf-upgradeable-loader', space: data.length }
  }
  if (samePubkey(owner, LOOKUP_TABLE)) {
    const parsed = parseLookupTable(data)
    return parsed === null ? null : { parsed, program: 'address-lookup-table', space: data.length }
  }
  return null
}

const textOrNull = (key: Uint8Array | null): string | null => (key === null ? null : pubkeyToBase58(key))

function parseMint(data: Uint8Array): object | null {
  const mint = readMint(data)
  if (mint === null) return null
  return {
    type: 'mint',
    info: {
      mintAuthority: textOrNull(mint.mintAuthority),
      supply: mint.supply.toString(),
      decimals: mint.decimals,
      isInitialized: mint.isInitialized,
      freezeAuthority: textOrNull(mint.freezeAuthority),
      ...extensions(mint.extensions)
    }
  }
}

function parseTokenAccount(data: Uint8Array, decimalsOf: DecimalsOf): object | null {
  const account = readTokenAccount(data)
  const decimals = account === null ? null : decimalsOf(account.mint)
  if (account === null || decimals === null) return null
  const { delegate, nativeReserve, closeAuthority } = account
  return {
    type: 'account',
    info: {
      mint: pubkeyToBase58(account.mint),
      owner: pubkeyToBase58(account.owner),
      tokenAmount: uiTokenAmount(account.amount, decimals),
      ...(delegate === null ? {} : { delegate: pubkeyToBase58(delegate) }),
      state: account.state,
      isNative: nativeReserve !== null,
      ...(nativeReserve === null ? {} : { rentExemptReserve: uiTokenAmount(nativeReserve, decimals) }),
      ...(delegate === null ? {} : { delegatedAmount: uiTokenAmount(account.delegatedAmount, decimals) }),
      ...(closeAuthority === null ? {} : { closeAuthority: pubkeyToBase58(closeAuthority) }),
      ...extensions(account.extensions)
    }
  }
}

function parseMultisig(data: Uint8Array): object | null {
  const multisig = readMultisig(data)
  if (multisig === null) return null
  const { required, valid, signers } = multisig
  return {
    type: 'multisig',
    info: {
      numRequiredSigners: required,
      numValidSigners: valid,
      isInitialized: true,
      signers: signers.map(pubkeyToBase58)
    }
  }
}

const IMMUTABLE_OWNER = 7

/**
 * Lists extensions. Only extensions without a value have names; the others are written like those that a node cannot
 * parse.
 */
function extensions(types: readonly number[]): object {
  if (types.length === 0) return {}
  return {
    extensions: types.map((type) => ({
      extension: type === IMMUTABLE_OWNER ? 'immutableOwner' : 'unparseableExtension'
    }))
  }
}

const NONCE_BYTES = 80

function parseNonce(data: Uint8Array): object | null {
  if (data.length !== NONCE_BYTES) return null
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (view.getUint32(4, true) !== 1) return null
  return {
    type: 'initialized',
    info: {
      authority: pubkeyToBase58(data.subarray(8, 40)),
      blockhash: pubkeyToBase58(data.subarray(40, 72)),
      feeCalculator: { lamportsPerSignature: view.getBigUint64(72, true).toString() }
    }
  }
}

const PROGRAM_BYTES = 36
const PROGRAM_TAG = 2

function parseProgram(data: Uint8Array): object | null {
  if (data.length !== PROGRAM_BYTES || data[0] !== PROGRAM_TAG) return null
  return { type: 'program', info: { programData: pubkeyToBase58(data.subarray(4)) } }
}

const TABLE_HEAD_BYTES = 56

function parseLookupTable(data: Uint8Array): object | null {
  if (data.length < TABLE_HEAD_BYTES) return null
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (view.getUint32(0, true) !== 1) return null
  const addresses: string[] = []
  for (let at = TABLE_HEAD_BYTES; at + 32 <= data.length; at += 32) {
    addresses.push(pubkeyToBase58(data.subarray(at, at + 32)))
  }
  return {
    type: 'lookupTable',
    info: {
      deactivationSlot: view.getBigUint64(4, true).toString(),
      lastExtendedSlot: view.getBigUint64(12, true).toString(),
      lastExtendedSlotStartIndex: data[20]!,
      ...(data[21] === 1 ? { authority: pubkeyToBase58(data.subarray(22, 54)) } : {}),
      addresses
    }
  }
}
