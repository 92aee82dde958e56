import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { readWire, type WireTransaction } from '../../chain/wire.ts'
import type { ExecutedTransaction, ExecutionMeta, InnerInstruction, MetaTokenBalance } from '../chain.ts'
import { base64Of } from './account-encoding.ts'
import { integer } from './json.ts'
import { parseInstruction } from './parsed-instruction.ts'
import { unsupportedVersion } from './rpc-error.ts'
import { uiTokenAmount } from './token-amount.ts'

export const TRANSACTION_ENCODINGS = ['binary', 'base64', 'base58', 'json', 'jsonParsed'] as const

export type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number]

/** A transaction as a node encodes it: body, meta, and its version if requested. */
export interface EncodedTransaction {
  readonly transaction: unknown
  readonly meta: object
  readonly version?: 'legacy' | number
}

/**
 * Encodes a transaction as getTransaction and getBlock write it. Throws if the client does not support its version;
 * null is a client that states no version, and gets none.
 */
export function encodeExecuted(
  executed: ExecutedTransaction,
  encoding: TransactionEncoding,
  versionMax: number | null
): EncodedTransaction {
  const wire = wireOf(executed)
  const version = versionFor(wire, versionMax)
  // The encodings of bytes name no key.
  const namesKeys = encoding === 'json' || encoding === 'jsonParsed'
  const keys = namesKeys ? keysOf(wire, executed.meta) : []
  return {
    transaction: encodeWire(executed, wire, keys, encoding),
    meta: encodeMeta(executed.meta, keys, encoding),
    ...version
  }
}

/** Encodes the form `transactionDetails: accounts`: the accounts and their balances. */
export function encodeAccountsOnly(
  executed: ExecutedTransaction,
  versionMax: number | null
): EncodedTransaction {
  const wire = wireOf(executed)
  const version = versionFor(wire, versionMax)
  const keys = keysOf(wire, executed.meta)
  const { meta } = executed
  return {
    transaction: {
      signatures: wire.signatures.map(encodeBase58),
      accountKeys: accountKeys(wire, keys)
    },
    meta: {
      err: meta.err,
      status: statusOf(meta.err),
      fee: integer(meta.fee),
      preBalances: meta.preBalances.map(integer),
      postBalances: meta.postBalances.map(integer),
      preTokenBalances: meta.preTokenBalances.map(tokenBalance),
      postTokenBalances: meta.postTokenBalances.map(tokenBalance),
      rewards: []
    },
    ...version
  }
}

/** Parses the bytes of a transaction in a block. */
export function wireOf({ wire }: ExecutedTransaction): WireTransaction {
  const outcome = readWire(wire)
  if (outcome.kind === 'wire') return outcome.wire
  throw new Error(`a block holds a transaction that cannot be read: ${outcome.reason}`)
}

export function statusOf(err: unknown): object {
  return err === null ? { Ok: null } : { Err: err }
}

/** Returns static keys, then loaded writable ones, then loaded readonly ones, as base58. */
export function keysOf(wire: WireTransaction, meta: ExecutionMeta): string[] {
  const keys: string[] = []
  for (let i = 0; i < wire.keyCount; i++) keys.push(pubkeyToBase58(wire.keys.subarray(i * 32, i * 32 + 32)))
  for (const key of meta.loadedWritable) keys.push(pubkeyToBase58(key))
  for (const key of meta.loadedReadonly) keys.push(pubkeyToBase58(key))
  return keys
}

function versionFor(wire: WireTransaction, max: number | null): { version?: 'legacy' | number } {
  const { version } = wire
  if (version !== 'legacy' && (max === null || version > max)) throw unsupportedVersion(version)
  return max === null ? {} : { version }
}

function encodeWire(
  executed: ExecutedTransaction,
  wire: WireTransaction,
  keys: readonly string[],
  encoding: TransactionEncoding
): unknown {
  switch (encoding) {
    case 'base64':
      return [base64Of(executed.wire), encoding]
    case 'base58':
      return [encodeBase58(executed.wire), encoding]
    case 'binary':
      return encodeBase58(executed.wire)
    case 'json':
      return { signatures: wire.signatures.map(encodeBase58), message: encodeMessage(wire, keys) }
    case 'jsonParsed':
      return { signatures: wire.signatures.map(encodeBase58), message: parseMessage(wire, keys) }
  }
}

function encodeMessage(wire: WireTransaction, keys: readonly string[]): object {
  const { header } = wire
  return {
    header: {
      numRequiredSignatures: header.signatures,
      numReadonlySignedAccounts: header.readonlySigned,
      numReadonlyUnsignedAccounts: header.readonlyUnsigned
    },
    accountKeys: keys.slice(0, wire.keyCount),
    recentBlockhash: encodeBase58(wire.lifetime),
    instructions: wire.instructions.map(({ program, accounts, data }) => ({
      programIdIndex: program,
      accounts: [...accounts],
      data: encodeBase58(data),
      stackHeight: 1
    })),
    ...versioned(wire)
  }
}

function parseMessage(wire: WireTransaction, keys: readonly string[]): object {
  return {
    accountKeys: accountKeys(wire, keys),
    recentBlockhash: encodeBase58(wire.lifetime),
    instructions: wire.instructions.map((instruction) => parseInstruction(instruction, 1, keys)),
    ...versioned(wire)
  }
}

/** Returns the fields that only versioned messages have. */
function versioned({ version, lookups, config }: WireTransaction): object {
  if (version === 0) {
    return {
      addressTableLookups: lookups.map(({ table, writable, readonly }) => ({
        accountKey: pubkeyToBase58(table),
        writableIndexes: [...writable],
        readonlyIndexes: [...readonly]
      }))
    }
  }
  if (version !== 1 || config === null) return {}
  const { priorityFeeLamports } = config
  return {
    transactionConfig: {
      priorityFee: priorityFeeLamports === null ? null : integer(priorityFeeLamports),
      computeUnitLimit: config.computeUnitLimit,
      loadedAccountsDataSizeLimit: config.loadedAccountsBytesMax,
      heapSize: config.heapBytes
    }
  }
}

function accountKeys(wire: WireTransaction, keys: readonly string[]): object[] {
  const { header, keyCount } = wire
  const called = new Set(wire.instructions.map(({ program }) => program))
  const writableLoaded = wire.lookups.reduce((sum, { writable }) => sum + writable.length, 0)
  return keys.map((pubkey, index) => {
    const signer = index < header.signatures
    let writable: boolean
    if (index >= keyCount) writable = index < keyCount + writableLoaded
    else if (signer) writable = index < header.signatures - header.readonlySigned
    else writable = index < keyCount - header.readonlyUnsigned
    // A called program is locked for reading only, even if the message requests more.
    return {
      pubkey,
      signer,
      source: index < keyCount ? 'transaction' : 'lookupTable',
      writable: writable && !called.has(index)
    }
  })
}

function encodeMeta(meta: ExecutionMeta, keys: readonly string[], encoding: TransactionEncoding): object {
  const { err, returnData } = meta
  const parsed = encoding === 'jsonParsed'
  return {
    err,
    status: statusOf(err),
    fee: integer(meta.fee),
    preBalances: meta.preBalances.map(integer),
    postBalances: meta.postBalances.map(integer),
    innerInstructions: encodeInner(meta, keys, parsed),
    logMessages: meta.logs,
    preTokenBalances: meta.preTokenBalances.map(tokenBalance),
    postTokenBalances: meta.postTokenBalances.map(tokenBalance),
    rewards: [],
    // In the parsed form each key states its own source.
    ...(parsed
      ? {}
      : {
          loadedAddresses: {
            writable: meta.loadedWritable.map(pubkeyToBase58),
            readonly: meta.loadedReadonly.map(pubkeyToBase58)
          }
        }),
    ...(returnData === null ? {} : { returnData: encodeReturnData(returnData) }),
    computeUnitsConsumed: integer(meta.computeUnits)
  }
}

export function encodeReturnData({ program, data }: NonNullable<ExecutionMeta['returnData']>): object {
  return { programId: pubkeyToBase58(program), data: [base64Of(data), 'base64'] }
}

/** Encodes inner instructions, grouped by outer one. */
export function encodeInner(
  { inner }: Pick<ExecutionMeta, 'inner'>,
  keys: readonly string[],
  parsed: boolean
): object[] {
  return inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((instruction) =>
      parsed ? parseInner(instruction, keys) : compiledInner(instruction)
    )
  }))
}

function parseInner(instruction: InnerInstruction, keys: readonly string[]): object {
  const { programIndex, accounts, data, stackHeight } = instruction
  return parseInstruction({ program: programIndex, accounts, data }, stackHeight, keys)
}

function compiledInner({ programIndex, accounts, data, stackHeight }: InnerInstruction): object {
  return { programIdIndex: programIndex, accounts, data: encodeBase58(data), stackHeight }
}

function tokenBalance({ accountIndex, mint, owner, program, amount, decimals }: MetaTokenBalance): object {
  return {
    accountIndex,
    mint: pubkeyToBase58(mint),
    uiTokenAmount: uiTokenAmount(amount, decimals),
    owner: pubkeyToBase58(owner),
    programId: pubkeyToBase58(program)
  }
}
