import { encodeBase58 } from '../../chain/base58.ts'
import type { WireTransaction } from '../../chain/wire.ts'
import { feeOf } from '../bank/fees.ts'
import { SendFailure, type LocalChain, type Simulation, type SimulationOptions } from '../chain.ts'
import { accountFormOf, encodeAccount, type AccountForm } from './account-encoding.ts'
import { errorText } from './error-text.ts'
import { integer } from './json.ts'
import { addressOf, invalidType, isMap, listOf, optional, type JsonMap } from './params.ts'
import { internalError, invalidParams, preflightFailure } from './rpc-error.ts'
import { simulatedProgramNote } from './simulated-programs.ts'
import { encodeReturnData } from './transaction-encoding.ts'
import { decimalsOf } from './methods/accounts.ts'

/** Accounts that a caller requests in their state after a simulation. */
export interface RequestedAccounts {
  readonly addresses: readonly Uint8Array[]
  readonly form: AccountForm
}

/** Reads the requested accounts from a config; null if it names none. Throws as a node does. */
export function requestedAccounts(config: JsonMap, wire: WireTransaction): RequestedAccounts | null {
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
export function simulate(
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
 * Returns the requested accounts after a simulation; an empty list after a failure. An account that the transaction does
 * not name is returned unchanged.
 */
export function accountsAfter(
  chain: LocalChain,
  wire: WireTransaction,
  { addresses, form }: RequestedAccounts,
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
export function loadedOf(
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

/** Returns the addresses that a transaction itself has, in base58. */
export function staticKeys({ keys, keyCount }: WireTransaction): string[] {
  return Array.from({ length: keyCount }, (_, i) => encodeBase58(keys.subarray(i * 32, i * 32 + 32)))
}

/**
 * Encodes a simulation as nodes write it. Values that the chain does not measure are null, as on a node that lacks them.
 * A failed simulation of a program that only a real chain has gets a log line that explains it.
 */
export function encodeSimulation(simulation: Simulation, wire: WireTransaction): object {
  const { err, logs, computeUnits, returnData, replacement } = simulation
  const note = err === null ? null : simulatedProgramNote(wire)
  const isExecuted = err === null || logs.length > 0
  return {
    err,
    logs: note === null ? logs : [...logs, `Localnet: ${note}`],
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

function failedPreflight(simulation: Simulation, wire: WireTransaction): unknown {
  const note = simulatedProgramNote(wire)
  const reason = note === null ? errorText(simulation.err) : `${errorText(simulation.err)}. ${note}`
  return preflightFailure(reason, encodeSimulation(simulation, wire))
}

/**
 * Returns the error for a refused transaction, in a node's words. Since Agave 4 a bad signature is a preflight failure.
 */
export function refusal(error: unknown, wire: WireTransaction): unknown {
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
