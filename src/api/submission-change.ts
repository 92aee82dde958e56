import { z } from 'zod'
import { count, signature, text, unixMs } from './schema.ts'

/** Schema of a change of a submitted transaction, on the stream's channel `tx`. The package of the client has this file. */
export const SUBMISSION_CHANGE = z
  .object({
    event: z
      .enum(['sent', 'processed', 'confirmed', 'finalized', 'failed', 'expired'])
      .describe(
        'The state; `sent` again after a fork that dropped its block, `failed` at finalized, before that `err` tells'
      ),
    signature: signature('First signature of the transaction'),
    route: z.enum(['node', 'jito']).describe('The way by which it is sent'),
    bundle_id: text('Bundle that it was submitted in').nullable(),
    commitment: z.enum(['processed', 'confirmed', 'finalized']).nullable().describe('Of its block'),
    slot: count('Slot of its block').nullable(),
    err: z.unknown().describe('Error of the chain, as in JSON-RPC; null for none'),
    rebroadcasts: count('Sends after the first one'),
    landed_ms: count('Milliseconds from the first send until its block was seen').nullable(),
    received_at_ms: unixMs('Time of its reception', 'service'),
    ts_ms: unixMs('Time of the change', 'service'),
    cursor: count('Position of the change in the order of all events; no other change of the tenant has it')
  })
  .meta({ id: 'SubmissionChange', description: 'A change of a submitted transaction' })
