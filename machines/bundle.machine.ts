import { setup } from 'xstate'

/**
 * The life of one bundle, from its storage to the end that the chain gives it.
 *
 * B1. `submitting` is stored before the engine is called. If a process dies in it, the engine may have the bundle. The next
 *     process resumes it as `unsure`, and resubmits it only once the engine reports that it does not know the bundle.
 * B2. Only the chain says that a bundle landed. The engine's answer leads to `rejected` at most, which the chain may
 *     correct.
 * B3. `failed` needs evidence that no member can land any more, or that they landed apart. It is final, like `finalized`.
 */
export type BundleEvent =
  | { readonly type: 'submission.began' }
  | { readonly type: 'submission.accepted' }
  /** No region can have accepted the bundle; it is resubmitted later. */
  | { readonly type: 'submission.deferred' }
  /** The answer was lost. */
  | { readonly type: 'submission.unsure' }
  | { readonly type: 'submission.refused' }
  | { readonly type: 'engine.pending' }
  | { readonly type: 'engine.failed' }
  /** The engine does not know a bundle whose submission was unsure. */
  | { readonly type: 'engine.unknown' }
  | { readonly type: 'members.processed' }
  | { readonly type: 'members.confirmed' }
  | { readonly type: 'members.finalized' }
  /** A block with them was removed. */
  | { readonly type: 'members.lost' }
  /** They are in different blocks, or one has failed, and that is confirmed. */
  | { readonly type: 'members.split' }
  /** No member can land any more. */
  | { readonly type: 'members.expired' }

const landing = {
  'members.processed': 'processed',
  'members.confirmed': 'confirmed',
  'members.finalized': 'finalized'
} as const
const apart = { ...landing, 'members.split': 'failed', 'members.expired': 'failed' } as const

export const bundleMachine = setup({ types: { events: {} as BundleEvent } }).createMachine({
  id: 'bundle',
  initial: 'queued',
  states: {
    queued: { on: { ...apart, 'submission.began': 'submitting' } },
    submitting: {
      on: {
        ...apart,
        'submission.accepted': 'pending',
        'submission.deferred': 'queued',
        'submission.unsure': 'unsure',
        'submission.refused': 'rejected'
      }
    },
    unsure: {
      on: {
        ...apart,
        'engine.pending': 'pending',
        'engine.failed': 'rejected',
        'engine.unknown': 'queued'
      }
    },
    pending: { on: { ...apart, 'engine.failed': 'rejected' } },
    rejected: { on: { ...apart, 'engine.pending': 'pending' } },
    processed: { on: { ...landing, 'members.lost': 'pending', 'members.split': 'failed' } },
    confirmed: {
      on: { ...landing, 'members.processed': undefined, 'members.lost': 'pending', 'members.split': 'failed' }
    },
    finalized: { type: 'final' },
    failed: { type: 'final' }
  }
})
