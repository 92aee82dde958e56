import { encodeBase58 } from '../../../chain/base58.ts'
import { readWire, type WireTransaction } from '../../../chain/wire.ts'
import { feeOf } from '../../bank/fees.ts'
import { SendFailure, type LocalChain, type Simulation, type SimulationOptions } from '../../chain.ts'
import { accountFormOf, encodeAccount, type AccountForm } from '../account-encoding.ts'
import { base58Bytes, base64Bytes } from '../account-filters.ts'
import { errorText } from '../error-text.ts'
import { integer } from '../json.ts'
import { contextSlot, inContext, method, withSlot, type Method } from '../method.ts'
import {
  addressOf,
  booleanOf,
  commitmentOf,
  configOf,
  invalidType,
  isMap,
  listOf,
  optional,
  strictCommitmentOf,
  stringOf,
  u64Of,
  variantOf,
  type JsonMap
} from '../params.ts'
import { internalError, invalidParams, preflightFailure } from '../rpc-error.ts'
import { simulatedProgramNote } from '../simulated-programs.ts'
import { encodeInner, encodeReturnData, TRANSACTION_ENCODINGS } from '../transaction-encoding.ts'
import { decimalsOf } from './accounts.ts'

/**
 * Size of a packet, and the longest texts that can encode one (agave, PACKET_DATA_SIZE, MAX_BASE58_SIZE,
 * MAX_BASE64_SIZE).
 */
const PACKET_BYTES_MAX = 1232
const BASE58_DIGITS_MAX = 1683
const BASE64_DIGITS_MAX = 1644
const TRANSACTION = 'solana_transaction::versioned::VersionedTransaction'
const MESSAGE = 'solana_message::versions::VersionedMessage'

/** Methods that take a transaction which has not landed. */
export const submissionMethods: Readonly<Record<string, Method>> = {
  sendTransaction: method(1, 2, (node, [text, options]) => {
    const given = stringOf(text)
    const config = configOf(options, 'RpcSendTransactionConfig')
    const skipPreflight = optional(config.skipPreflight, booleanOf) ?? false
    const preflight = strictCommitmentOf(config.preflightCommitment)
    const bytes = transactionBytes(given, config)
    const wire = transactionOf(bytes)
    contextSlot(node, skipPreflight ? 'processed' : preflight, config)
    try {
      return encodeBase58(node.chain.send(bytes.subarray(0, lengthOf(wire)), { skipPreflight }))
    } catch (error) {
      // Without preflight a node forwards a transaction unchecked; one that cannot land is never heard of again.
      if (skipPreflight && isUnlanded(error)) return encodeBase58(wire.signatures[0]!)
      throw refusal(error, wire)
    }
  }),

  simulateTransaction: method(1, 2, (node, [text, options]) => {
    const given = stringOf(text)
    const config = configOf(options, 'RpcSimulateTransactionConfig')
    const sigVerify = optional(config.sigVerify, booleanOf) ?? false
    const replaceRecentBlockhash = optional(config.replaceRecentBlockhash, booleanOf) ?? false
    const withInner = optional(config.innerInstructions, booleanOf) ?? false
    const bytes = transactionBytes(given, config)
    const wire = transactionOf(bytes)
    const slot = contextSlot(node, commitmentOf(config), config)
    if (sigVerify && replaceRecentBlockhash) {
      throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
    }
    const wanted = wantedAccounts(config, wire)
    const simulation = simulate(node.chain, bytes.subarray(0, lengthOf(wire)), wire, {
      sigVerify,
      replaceRecentBlockhash,
      accounts: wanted?.addresses ?? []
    })
    const accounts = wanted === null ? null : accountsAfter(node.chain, wire, wanted, simulation)
    const parsed = wire.lookups.length === 0
    const inner = withInner ? encodeInner(simulation, staticKeys(wire), parsed) : null
    const loadedAddresses = loadedOf(node.chain, wire)
    const encoded = encodeSimulation(noted(simulation, wire), wire)
    return withSlot(slot, { ...encoded, accounts, innerInstructions: inner, loadedAddresses })
  }),

  requestAirdrop: method(2, 3, ({ chain }, [address, lamports, options]) => {
    stringOf(address)
    const amount = u64Of(lamports)
    const config = configOf(options, 'RpcRequestAirdropConfig')
    optional(config.recentBlockhash, stringOf)
    const to = addressOf(address)
    try {
      return encodeBase58(chain.airdrop(to, amount))
    } catch (error) {
      if (error instanceof SendFailure) throw internalError()
      throw error
    }
  }),

  getFeeForMessage: method(1, 2, (node, [text, options]) => {
    const given = stringOf(text)
    const config = configOf(options, 'RpcContextConfig')
    const bytes = decode(given, 'base64', MESSAGE)
    const wire = messageOf(bytes)
    return inContext(node, config, (commitment) =>
      node.chain.isBlockhashValid(wire.lifetime, commitment) ? integer(feeOf(wire)) : null
    )
  })
}

function transactionBytes(text: string, config: JsonMap): Uint8Array {
  const encoding = optional(config.encoding, (value) => variantOf(value, TRANSACTION_ENCODINGS)) ?? 'base58'
  if (encoding === 'base64') return decode(text, encoding, TRANSACTION)
  if (encoding === 'base58' || encoding === 'binary') return decode(text, 'base58', TRANSACTION)
  throw invalidParams(`unsupported encoding: ${encoding}. Supported encodings: base58, base64`)
}

function decode(text: string, encoding: 'base58' | 'base64', type: string): Uint8Array {
  const digitsMax = encoding === 'base58' ? BASE58_DIGITS_MAX : BASE64_DIGITS_MAX
  if (text.length > digitsMax) {
    throw invalidParams(
      `${encoding} encoded ${type} too large: ${text.length} bytes (max: encoded/raw ${digitsMax}/${PACKET_BYTES_MAX})`
    )
  }
  const read = encoding === 'base58' ? base58Bytes : base64Bytes
  const bytes = read(text, `invalid ${encoding} encoding: `)
  if (bytes.length <= PACKET_BYTES_MAX) return bytes
  throw invalidParams(`decoded ${type} too large: ${bytes.length} bytes (max: ${PACKET_BYTES_MAX} bytes)`)
}

/** Reads a transaction; a node ignores bytes after it. */
function transactionOf(bytes: Uint8Array): WireTransaction {
  const outcome = readLeading(bytes)
  if (outcome.kind === 'wire') return outcome.wire
  if (SANITIZE_FAULTS.has(outcome.reason)) {
    throw invalidParams('invalid transaction: Transaction failed to sanitize accounts offsets correctly')
  }
  throw invalidParams(`failed to deserialize ${TRANSACTION}: ${outcome.reason}`)
}

/** Faults by `readWire` of bytes that are a transaction, but an invalid one. */
const SANITIZE_FAULTS = new Set([
  'message header',
  'number of signatures',
  'number of account keys',
  'program index',
  'account index'
])

function readLeading(bytes: Uint8Array): ReturnType<typeof readWire> {
  const outcome = readWire(bytes)
  if (outcome.kind === 'wire' || outcome.reason !== 'bytes after the transaction') return outcome
  // A readable length lies between: shorter ones end early.
  for (let length = bytes.length - 1; length > 0; length--) {
    const shorter = readWire(bytes.subarray(0, length))
    if (shorter.kind === 'wire' || shorter.reason !== 'bytes after the transaction') return shorter
  }
  return outcome
}

function lengthOf({ version, signatures, message }: WireTransaction): number {
  const signatureBytes = signatures.length * 64
  return message.length + signatureBytes + (version === 1 ? 0 : signatures.length < 0x80 ? 1 : 2)
}

/** Reads a message as a transaction with zeros as signatures: before the message, or in version 1 after it. */
function messageOf(message: Uint8Array): WireTransaction {
  const first = message[0] ?? 0
  const signatures = first === 0x81 || first === 0x80 ? (message[1] ?? 0) : first
  const blank = new Uint8Array(signatures * 64)
  const bytes =
    first === 0x81
      ? Buffer.concat([message, blank])
      : Buffer.concat([Uint8Array.of(signatures), blank, message])
  const outcome = signatures > 0x7f ? null : readLeading(bytes)
  if (outcome?.kind === 'wire') return outcome.wire
  throw invalidParams(`failed to deserialize ${MESSAGE}: ${outcome?.reason ?? 'number of signatures'}`)
}

interface WantedAccounts {
  readonly addresses: readonly Uint8Array[]
  readonly form: AccountForm
}

function wantedAccounts(config: JsonMap, wire: WireTransaction): WantedAccounts | null {
  return optional(config.accounts, (value) => {
    if (!isMap(value)) throw invalidType(value, 'struct RpcSimulateTransactionAccountsConfig')
    const form = accountFormOf({ encoding: value.encoding }, 'base64')
    if (form.encoding === 'binary' || form.encoding === 'base58') {
      throw invalidParams('base58 encoding not supported')
    }
    const list = listOf(value.addresses)
    const lookedUp = wire.lookups.reduce(
      (sum, { writable, readonly }) => sum + writable.length + readonly.length,
      0
    )
    const most = wire.keyCount + lookedUp
    if (list.length > most) throw invalidParams(`Too many accounts provided; max ${most}`)
    return { addresses: list.map(addressOf), form }
  })
}

/** Simulates; a bad signature is a result of the simulation, not an error of the call. */
function simulate(
  chain: LocalChain,
  bytes: Uint8Array,
  wire: WireTransaction,
  options: SimulationOptions
): Simulation {
  try {
    return chain.simulate(bytes, options)
  } catch (error) {
    if (error instanceof SendFailure && error.problem.kind === 'signature') {
      return { ...NOTHING_DONE, err: 'SignatureFailure' }
    }
    throw refusal(error, wire)
  }
}

/**
 * Returns the requested accounts after a simulation; none after a failure. An account that the transaction does not
 * name is returned as it is.
 */
function accountsAfter(
  chain: LocalChain,
  wire: WireTransaction,
  { addresses, form }: WantedAccounts,
  { err, accounts }: Simulation
): (object | null)[] {
  const named = new Set(staticKeys(wire))
  const decimals = decimalsOf(chain)
  return addresses.map((address, i) => {
    if (err !== null) return null
    const isNamed = named.has(encodeBase58(address)) || wire.lookups.length > 0
    const account = isNamed ? (accounts[i] ?? null) : chain.account(address)
    return account === null ? null : encodeAccount(account, form, decimals)
  })
}

const TABLE_HEAD_BYTES = 56

/** Returns the addresses that a transaction loads from tables, in the tables' current state. */
function loadedOf(
  chain: LocalChain,
  { lookups }: WireTransaction
): { writable: string[]; readonly: string[] } {
  const writable: string[] = []
  const readonly: string[] = []
  for (const lookup of lookups) {
    const addresses = chain.account(lookup.table)?.data.subarray(TABLE_HEAD_BYTES) ?? new Uint8Array(0)
    const at = (index: number): string => encodeBase58(addresses.subarray(index * 32, index * 32 + 32))
    writable.push(...Array.from(lookup.writable, at))
    readonly.push(...Array.from(lookup.readonly, at))
  }
  return { writable, readonly }
}

function staticKeys({ keys, keyCount }: WireTransaction): string[] {
  return Array.from({ length: keyCount }, (_, i) => encodeBase58(keys.subarray(i * 32, i * 32 + 32)))
}

/**
 * Encodes a simulation as nodes write it. Values that the chain does not measure are null, as on a node without them.
 */
function encodeSimulation(simulation: Simulation, wire: WireTransaction): object {
  const { err, logs, computeUnits, returnData, replacement } = simulation
  const isExecuted = err === null || logs.length > 0
  return {
    err,
    logs,
    accounts: null,
    unitsConsumed: integer(computeUnits),
    loadedAccountsDataSize: null,
    returnData: returnData === null ? null : encodeReturnData(returnData),
    innerInstructions: null,
    replacementBlockhash:
      replacement === null
        ? null
        : {
            blockhash: encodeBase58(replacement.blockhash),
            lastValidBlockHeight: replacement.lastValidBlockHeight
          },
    fee: isExecuted ? integer(feeOf(wire)) : null,
    preBalances: null,
    postBalances: null,
    preTokenBalances: null,
    postTokenBalances: null,
    loadedAddresses: null
  }
}

const NOTHING_DONE: Simulation = {
  err: null,
  logs: [],
  computeUnits: 0n,
  inner: [],
  returnData: null,
  accounts: [],
  replacement: null
}

/** Whether the chain refused a transaction that a node would forward to a leader, which drops it. */
function isUnlanded(error: unknown): boolean {
  return error instanceof SendFailure && ['signature', 'blockhash', 'full'].includes(error.problem.kind)
}

/**
 * Returns the error for a refused transaction, in a node's words. Since Agave 4 a bad signature is a preflight failure.
 */
function refusal(error: unknown, wire: WireTransaction): unknown {
  if (!(error instanceof SendFailure)) return error
  const { problem } = error
  switch (problem.kind) {
    case 'undecodable':
      return invalidParams(`invalid transaction: ${problem.detail}`)
    case 'signature':
      return failedPreflight({ ...NOTHING_DONE, err: 'SignatureFailure' }, wire)
    case 'blockhash':
      return failedPreflight({ ...NOTHING_DONE, err: 'BlockhashNotFound' }, wire)
    case 'preflight':
      return failedPreflight(problem.simulation, wire)
    case 'full':
      return internalError(`Node is busy: ${problem.waitingMax} transactions wait for a block`)
  }
}

/** Adds a log line to a failed simulation of a program that only a real chain has. */
function noted(simulation: Simulation, wire: WireTransaction): Simulation {
  const note = simulation.err === null ? null : simulatedProgramNote(wire)
  return note === null ? simulation : { ...simulation, logs: [...simulation.logs, `Localnet: ${note}`] }
}

function failedPreflight(simulation: Simulation, wire: WireTransaction): unknown {
  const note = simulatedProgramNote(wire)
  const reason = note === null ? errorText(simulation.err) : `${errorText(simulation.err)}. ${note}`
  return preflightFailure(reason, encodeSimulation(noted(simulation, wire), wire))
}
