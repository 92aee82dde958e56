import {
  isCount,
  keyTextOf,
  listOf,
  listOrEmpty,
  countOf,
  objectOf,
  Unreadable
} from '../chain/rpc/fields.ts'
import { readInContext } from '../node/node-answers.ts'
import { COMMITMENTS } from './bundle-landing.ts'
import type { SignatureStatus, SimulatedOutcome } from './ports.ts'

/** Statuses at a slot, in the order of the signatures. */
export interface Statuses {
  readonly contextSlot: number
  readonly statuses: readonly (SignatureStatus | null)[]
}

/** Reads the result of getSignatureStatuses for `count` signatures. Throws Unreadable. */
export function readStatuses(result: unknown, count: number): Statuses {
  const { slot: contextSlot, value } = readInContext(result)
  const list = listOf(value, 'statuses')
  if (list.length !== count) throw new Unreadable('statuses')
  return { contextSlot, statuses: list.map(readStatus) }
}

/** Reads one status; null for an unknown signature. */
function readStatus(value: unknown): SignatureStatus | null {
  if (value === null) return null
  const { slot, confirmations, err = null, confirmationStatus } = objectOf(value, 'status')
  const commitment = COMMITMENTS.find((each) => each === confirmationStatus)
  if (commitment === undefined) throw new Unreadable('confirmationStatus')
  return {
    slot: countOf(slot, 'slot'),
    confirmations: countOrNull(confirmations, 'confirmations'),
    err,
    commitment
  }
}

/** Reads the result of simulateTransaction. Throws Unreadable. */
export function readSimulation(result: unknown): SimulatedOutcome {
  const { err = null, logs, unitsConsumed } = objectOf(readInContext(result).value, 'value')
  const lines = listOrEmpty(logs, 'logs')
  if (!isTexts(lines)) throw new Unreadable('logs')
  return { err, logs: lines, unitsConsumed: countOrNull(unitsConsumed, 'unitsConsumed') }
}

/** Reads the result of getEpochInfo. Throws Unreadable. */
export function readHeight(result: unknown): { readonly slot: number; readonly height: number } {
  const { absoluteSlot, blockHeight } = objectOf(result, 'result')
  return { slot: countOf(absoluteSlot, 'absoluteSlot'), height: countOf(blockHeight, 'blockHeight') }
}

/** Reads the signatures in the result of getBlock. Throws Unreadable. */
export function readSignatures(result: unknown): readonly string[] {
  const { signatures } = objectOf(result, 'result')
  const list = listOf(signatures, 'signatures')
  if (!isTexts(list)) throw new Unreadable('signatures')
  return list
}

/** Reads the result of isBlockhashValid. Throws Unreadable. */
export function readValidity(result: unknown): { readonly contextSlot: number; readonly isValid: boolean } {
  const { slot: contextSlot, value } = readInContext(result)
  if (typeof value !== 'boolean') throw new Unreadable('value')
  return { contextSlot, isValid: value }
}

/** The data of an account in encoding `base64`, with its owner in base58. */
export interface OwnedData {
  readonly owner: string
  readonly data: Uint8Array
}

/** Reads the result of getAccountInfo; `found` is null if the account does not exist. Throws Unreadable. */
export function readOwnedData(result: unknown): {
  readonly contextSlot: number
  readonly found: OwnedData | null
} {
  const { slot: contextSlot, value } = readInContext(result)
  if (value === null) return { contextSlot, found: null }
  const { owner, data } = objectOf(value, 'value')
  const [text] = listOf(data, 'data')
  if (typeof text !== 'string') throw new Unreadable('data')
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  return { contextSlot, found: { owner: keyTextOf(owner, 'owner'), data: bytes } }
}

function countOrNull(value: unknown, field: string): number | null {
  if (value === undefined || value === null) return null
  if (!isCount(value)) throw new Unreadable(field)
  return value
}

const isTexts = (values: readonly unknown[]): values is readonly string[] =>
  values.every((each) => typeof each === 'string')
