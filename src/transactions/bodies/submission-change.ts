import { z } from 'zod'
import { count, signature, text, unixMs } from '../../kernel/http/schema.ts'

/** Schema of a change of a submitted transaction, on the stream's channel `tx`. The client's package includes this file. */
export const SUBMISSION_CHANGE = z
  .object({
    event: z
      .enum(['sent', 'processed', 'confirmed', 'finalized', 'failed', 'expired'])
      .describe(
        'The state. It returns to `sent` if a fork drops the block. It becomes `failed` at finalized; before that, `err` shows the error'
      ),
    signature: signature('First signature of the transaction'),
    route: z.enum(['node', 'jito']).describe('Route by which it is sent'),
    bundle_id: text('Bundle that it belongs to').nullable(),
    commitment: z.enum(['processed', 'confirmed', 'finalized']).nullable().describe('Of its block'),
    slot: count('Slot of its block').nullable(),
    err: z.unknown().describe('Error of the chain, as in JSON-RPC; null if there is no error'),
    rebroadcasts: count('Sends after the first one'),
    landed_ms: count(
      'Milliseconds from the first send until the service saw its block or a node reported one'
    ).nullable(),
    received_at_ms: unixMs('Time of its reception', 'service'),
    ts_ms: unixMs('Time of the change', 'service'),
    cursor: count('Position of the change in the order of all events; unique among the changes of the tenant')
  })
  .meta({ id: 'SubmissionChange', description: 'A change of a submitted transaction' })
