import { z } from 'zod'
import { moment } from '../../access/bodies/api-key.ts'
import { address, count, signature } from '../../kernel/http/schema.ts'

/**
 * Why a bundle has failed, in the terms of the engine's own protocol (mev-protos). The public JSON interface gives no
 * reasons. Only two kinds occur: reasons that the chain shows, and those of an engine that states them.
 */
export const BUNDLE_REASONS = [
  'state_auction_bid_rejected',
  'winning_batch_bid_rejected',
  'simulation_failure',
  'internal_error',
  'dropped_bundle',
  'blockhash_expired',
  'partially_processed',
  'not_finalized'
] as const

const bundleId = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('Id of the bundle: SHA-256, in hexadecimal, of its base58 signatures joined by commas')

/** Schema of the answer to a submitted bundle. */
export const sentBundleAnswer = z.object({
  bundle_id: bundleId,
  signatures: z.array(signature('First signature of a transaction')).describe('In the order of execution')
})

/** Schema of the status of a bundle. */
export const bundleStatusAnswer = z
  .object({
    bundle_id: bundleId,
    status: z
      .enum(['pending', 'landed', 'failed', 'unknown'])
      .describe(
        '`unknown`: the tenant has not submitted it, its record is older than the retention, or no node can report whether it has landed (`submitted_at` is then not null)'
      ),
    landed_slot: count('Slot of its block; null while no block with it is known').nullable(),
    signatures: z.array(signature('First signature of a transaction')).describe('In the order of execution'),
    confirmation_status: z
      .enum(['processed', 'confirmed', 'finalized'])
      .nullable()
      .describe('Commitment of its block; null while no block with it is known'),
    err: z
      .unknown()
      .describe(
        'Error of a transaction as in JSON-RPC, or the engine’s refusal as `{code, message}`; null if there is no error'
      ),
    reason: z
      .enum(BUNDLE_REASONS)
      .nullable()
      .describe('Reason of the failure; null if it has not failed or the reason is unknown'),
    tip_lamports: count('Tip of its last transaction in lamports; null if unknown').nullable(),
    submitted_at: moment('Time of the submission; null if unknown').nullable(),
    updated_at: moment('Time of the last change of this status; null if unknown').nullable()
  })
  .meta({ id: 'BundleStatus', description: 'The status of a bundle' })

/** Schema of the tips. */
export const tipsAnswer = z
  .object({
    tip_accounts: z.array(address('Account that accepts tips')),
    floor_lamports: z
      .object({
        p25: count('25th percentile, in lamports'),
        p50: count('50th percentile, in lamports'),
        p75: count('75th percentile, in lamports'),
        p95: count('95th percentile, in lamports'),
        p99: count('99th percentile, in lamports'),
        ema_p50: count('Exponential moving average of the 50th percentile, in lamports')
      })
      .describe('Tips of recently landed bundles'),
    updated_at: moment('Time for which the feed computed the tips'),
    stale: z.boolean().describe('Whether later requests to the feed have failed')
  })
  .meta({ id: 'Tips', description: 'Tip accounts and usual tips' })
