import {
  countOf,
  isCount,
  keyTextOf,
  listOf,
  listOrEmpty,
  objectOf,
  Unreadable
} from '../chain/rpc/fields.ts'
import { readInContext } from '../node/node-answers.ts'
import { COMMITMENTS } from './bundle-landing.ts'
import type { SignatureStatus, SimulatedOutcome } from './ports.ts'

/** Makes a reader of a result whose value is at a slot. */
export const atSlot =
  <T>(read: (value: unknown) => T) =>
  (result: unknown): { readonly contextSlot: number; readonly value: T } => {
    const { slot, value } = readInContext(result)
    return { contextSlot: slot, value: read(value) }
  }

/** Reads the value of getSignatureStatuses for `count` signatures. Throws Unreadable. */
export function readStatuses(value: unknown, count: number): readonly (SignatureStatus | null)[] {
  const statuses = listOf(value, 'statuses')
  if (statuses.length !== count) throw new Unreadable('statuses')
  return statuses.map(readStatus)
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

/** Reads the value of simulateTransaction. Throws Unreadable. */
export function readSimulation(value: unknown): SimulatedOutcome {
  const { err = null, logs, unitsConsumed } = objectOf(value, 'value')
  return {
    err,
    logs: textsOf(listOrEmpty(logs, 'logs'), 'logs'),
    unitsConsumed: countOrNull(unitsConsumed, 'unitsConsumed')
  }
}

/** Reads the result of getEpochInfo. Throws Unreadable. */
export function readHeight(result: unknown): { readonly slot: number; readonly height: number } {
  const { absoluteSlot, blockHeight } = objectOf(result, 'result')
  return { slot: countOf(absoluteSlot, 'absoluteSlot'), height: countOf(blockHeight, 'blockHeight') }
}

/** Reads the signatures of a block; null if the node has no block at the slot. Throws Unreadable. */
export function readSignatures(result: unknown): readonly string[] | null {
  return result === null ? null : textsOf(objectOf(result, 'result')['signatures'], 'signatures')
}

/** Reads the value of isBlockhashValid. Throws Unreadable. */
export function readValidity(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Unreadable('value')
  return value
}

/** Reads the owner (base58) and data of an account; null if it does not exist. Throws Unreadable. */
export function readOwnedData(value: unknown): { readonly owner: string; readonly data: Uint8Array } | null {
  if (value === null) return null
  const { owner, data } = objectOf(value, 'value')
  const [text] = listOf(data, 'data')
  if (typeof text !== 'string') throw new Unreadable('data')
  return { owner: keyTextOf(owner, 'owner'), data: new Uint8Array(Buffer.from(text, 'base64')) }
}

function countOrNull(value: unknown, field: string): number | null {
  if (value === undefined || value === null) return null
  if (!isCount(value)) throw new Unreadable(field)
  return value
}

function textsOf(value: unknown, field: string): readonly string[] {
  return listOf(value, field).map((each) => {
    if (typeof each !== 'string') throw new Unreadable(field)
    return each
  })
}
