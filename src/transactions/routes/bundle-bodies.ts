import type { z } from 'zod'
import { momentText } from '../../access/bodies/api-key.ts'
import type { bundleStatusAnswer, tipsAnswer } from '../bodies/bundle.ts'
import type { Bundle, BundleProgress, BundleState } from '../bundle.ts'
import type { Tips } from '../ports.ts'

type BundleBody = z.input<typeof bundleStatusAnswer>

const STATUS: Readonly<Record<BundleState, BundleBody['status']>> = {
  queued: 'pending',
  submitting: 'pending',
  unsure: 'pending',
  pending: 'pending',
  rejected: 'failed',
  processed: 'landed',
  confirmed: 'landed',
  finalized: 'landed',
  failed: 'failed'
}

/** Renders a bundle of a tenant. */
export function bundleBody(bundle: Bundle, progress: BundleProgress | null): BundleBody {
  const shown = STATUS[progress?.state ?? 'queued']
  // Its tracking has ended, so whether it has landed is unknown.
  const status = shown === 'pending' && bundle.end !== null ? 'unknown' : shown
  const { state, slot = null, err = null, reason = null } = progress ?? {}
  return {
    bundle_id: bundle.bundleId,
    status,
    landed_slot: status === 'landed' ? slot : null,
    signatures: bundle.signatures,
    confirmation_status:
      state === 'processed' || state === 'confirmed' || state === 'finalized' ? state : null,
    err: status === 'failed' ? err : null,
    reason: status === 'failed' ? reason : null,
    tip_lamports: Number(bundle.tipLamports),
    submitted_at: momentText(bundle.receivedAtMs),
    updated_at: momentText(progress?.updatedAtMs ?? bundle.receivedAtMs)
  }
}

/** Renders a bundle that the tenant has not submitted. */
export function unknownBundleBody(bundleId: string): BundleBody {
  return {
    bundle_id: bundleId,
    status: 'unknown',
    landed_slot: null,
    signatures: [],
    confirmation_status: null,
    err: null,
    reason: null,
    tip_lamports: null,
    submitted_at: null,
    updated_at: null
  }
}

/** Renders the tips. */
export function tipsBody({ accounts, floor, isStale }: Tips): z.input<typeof tipsAnswer> {
  const { p25, p50, p75, p95, p99, emaP50, atMs } = floor
  return {
    tip_accounts: [...accounts],
    floor_lamports: { p25, p50, p75, p95, p99, ema_p50: emaP50 },
    updated_at: momentText(atMs),
    stale: isStale
  }
}
