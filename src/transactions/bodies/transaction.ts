import { z } from 'zod'
import { moment } from '../../access/bodies/api-key.ts'
import { count, listOf, signature, text } from '../../kernel/http/schema.ts'

export const transactionRoute = z.enum(['node', 'jito'])
export const transactionState = z.enum(['sent', 'processed', 'confirmed', 'finalized', 'failed', 'expired'])

const STATUS = {
  signature: signature('First signature of the transaction'),
  status: z
    .enum(['processed', 'confirmed', 'finalized', 'unknown'])
    .describe('Commitment of its block; `unknown` while no block with it is known'),
  err: z
    .unknown()
    .describe(
      'Error of the transaction in its block, as in JSON-RPC; null if it succeeded, and while no block with it is known'
    ),
  slot: count('Slot of its block; null while no block with it is known').nullable(),
  rebroadcasts: count('Sends after the first one'),
  tracking: z.boolean().describe('Whether it is still resent, every 2 s'),
  state: transactionState
    .nullable()
    .describe(
      'State of the submission: `failed` is finalized with an error, `expired` can no longer land; null if the tenant has not submitted it'
    ),
  route: transactionRoute
    .nullable()
    .describe(
      'Route of the first request for it: `jito` is the block engine; null if the tenant has not submitted it'
    ),
  routes: z
    .array(transactionRoute)
    .describe('Routes by which it is sent, in the order in which requests added them'),
  received_at: moment('Time of the submission; null if the tenant has not submitted it').nullable(),
  first_sent_at: moment('Time of the first send; null before it').nullable(),
  last_sent_at: moment('Time of the last send; null before the first').nullable(),
  landed_ms: count(
    'Milliseconds from the first send until the service saw its block or a node reported one; null before'
  ).nullable(),
  last_valid_block_height: count(
    'Block height after which it cannot land; null if unknown, and with a durable nonce'
  ).nullable(),
  expired: z.boolean().describe('Whether it can certainly no longer land'),
  leaders_sent: count('Number of leaders that it was sent to directly, over all sends'),
  confirmations: count(
    'Blocks on top of its block; null once the block is finalized, and if no node has reported it'
  ).nullable(),
  bundle_id: text('Bundle that it belongs to; null if it is not in a bundle').nullable(),
  evidence: z
    .enum(['block', 'nodes', 'node', 'claim'])
    .nullable()
    .describe(
      'Evidence that it has landed. `block`: a block that the service read. `nodes`: at least two nodes. `node`: one node, for a minute; it is rechecked within the next hour, and may still be taken back. `claim`: one node so far; it may be taken back. Null while no block with it is known, and in records of earlier versions'
    )
}

/** Schema of the answer to a submission. */
export const sentTransactionAnswer = z.object({
  signature: signature('First signature of the transaction, which identifies it in `/v1/tx/{signature}`'),
  repeated: z
    .literal(true)
    .optional()
    .describe(
      'Present if the tenant has submitted the signature before; all further fields are then present too'
    ),
  routes: STATUS.routes.optional(),
  resumed: z
    .boolean()
    .optional()
    .describe('Whether its sends had stopped and restart because of this request'),
  status: STATUS.status.optional().describe('Only of a submission that has ended: commitment of its block'),
  state: transactionState.optional().describe('Only of a submission that has ended: its last state'),
  slot: STATUS.slot
    .optional()
    .describe('Only of a submission that has ended: slot of its block; null if no block with it is known'),
  err: z
    .unknown()
    .optional()
    .describe(
      'Only of a submission that has ended: error of the transaction in its block; null if there is no error'
    ),
  expired: STATUS.expired
    .optional()
    .describe('Only of a submission that has ended: whether it can certainly no longer land')
})

/** Schema of a submission in a list. */
export const submissionAnswer = z
  .object(STATUS)
  .meta({ id: 'Submission', description: 'A submitted transaction and its status' })

/** Schema of the status of a transaction. */
export const transactionStatusAnswer = z
  .object({
    ...STATUS,
    current_block_height: count(
      'Newest block height at confirmed, to compare with `last_valid_block_height`; null while the node does not answer'
    ).nullable()
  })
  .meta({ id: 'TransactionStatus', description: 'The status of a transaction' })

/** Schema of the list of a tenant's submissions. */
export const submissionList = listOf(submissionAnswer)
