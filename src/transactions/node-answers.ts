import { z } from 'zod'
import { NodeError } from '../node/node-fault.ts'
import type { SignatureStatus, SimulatedOutcome } from './ports.ts'

const count = z.int().min(0)

const STATUS = z
  .object({
    slot: count,
    confirmations: count.nullable().default(null),
    err: z.unknown().optional(),
    confirmationStatus: z.enum(['processed', 'confirmed', 'finalized'])
  })
  .nullable()

const SIMULATION = z.object({
  err: z.unknown().optional(),
  logs: z.array(z.string()).nullish(),
  unitsConsumed: count.nullish()
})

/** Reads one status of getSignatureStatuses; null for an unknown signature. Throws NodeError. */
export function readStatus(value: unknown): SignatureStatus | null {
  const read = STATUS.safeParse(value)
  if (!read.success) throw unreadable('getSignatureStatuses')
  if (read.data === null) return null
  const { slot, confirmations, err = null, confirmationStatus: commitment } = read.data
  return { slot, confirmations, err, commitment }
}

/** Reads the value of simulateTransaction. Throws NodeError. */
export function readSimulation(value: unknown): SimulatedOutcome {
  const read = SIMULATION.safeParse(value)
  if (!read.success) throw unreadable('simulateTransaction')
  const { err = null, logs, unitsConsumed } = read.data
  return { err, logs: logs ?? [], unitsConsumed: unitsConsumed ?? null }
}

const unreadable = (method: string): NodeError =>
  new NodeError('node', { kind: 'garbage', detail: `the answer to ${method}` })
