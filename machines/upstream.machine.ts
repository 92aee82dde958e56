import { assign, setup } from 'xstate'
import { backoffMs } from './backoff.ts'
import type { Policy } from './unit.ts'

/**
 * The health of one node, judged by probes.
 *
 * U1. A node is used only after a probe found it up and on the right cluster: in `healthy` and `lagging`.
 * U2. `failuresMax` failures in a row, not one, take it down; it is probed again after an exponential backoff.
 * U3. A node that claims a slot that nothing bears out is down at once, and probed again like any node that is down.
 * U4. A node that refuses us, or is of another cluster, is probed again rarely.
 */
export interface UpstreamContext {
  readonly policy: UpstreamPolicy
  /** The slot of the last probe; it may be below that of an earlier probe. */
  readonly slot: number | null
  /** Slots behind the newest slot known. */
  readonly lag: number
  /** Failed probes in a row. */
  readonly failures: number
  /** Backoffs in a row. */
  readonly attempt: number
  /** Number of times its slot fell below an earlier one. */
  readonly backwards: number
  /** The last fault; null if the last probe succeeded. */
  readonly reason: string | null
}

export interface UpstreamPolicy extends Pick<Policy, 'backoff'> {
  /** Slots behind the newest one from which a node counts as lagging. */
  readonly lagSlots: number
  /** Failures in a row that take it down. */
  readonly failuresMax: number
  readonly recheckMs: number
}

export type UpstreamEvent =
  | { readonly type: 'answered'; readonly slot: number; readonly newest: number }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'refused'; readonly reason: string }
  /** It claims a slot that nothing bears out. */
  | { readonly type: 'disbelieved'; readonly reason: string }
  /** Probes a node that is down now, without waiting. */
  | { readonly type: 'reconnect' }

const charts = setup({
  types: { context: {} as UpstreamContext, events: {} as UpstreamEvent, input: {} as UpstreamPolicy },
  actions: {
    noteSlot: assign(({ context, event }) =>
      event.type === 'answered'
        ? {
            slot: event.slot,
            lag: Math.max(0, event.newest - event.slot),
            failures: 0,
            attempt: 0,
            reason: null,
            backwards: context.backwards + (event.slot < (context.slot ?? 0) ? 1 : 0)
          }
        : {}
    ),
    noteFailure: assign(({ context, event }) => ({
      failures: context.failures + 1,
      ...('reason' in event && { reason: event.reason })
    })),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1, failures: 0 })
  },
  guards: {
    isLagging: ({ context, event }) =>
      event.type === 'answered' && event.newest - event.slot > context.policy.lagSlots,
    isOnceTooOften: ({ context }) => context.failures + 1 >= context.policy.failuresMax
  },
  delays: {
    backoff: ({ context }) => backoffMs(context.policy.backoff, context.attempt),
    recheck: ({ context }) => context.policy.recheckMs
  }
})

const answered = [
  { guard: 'isLagging', target: 'lagging', actions: 'noteSlot' },
  { target: 'healthy', actions: 'noteSlot' }
] as const
const failed = [
  { guard: 'isOnceTooOften', target: 'down', actions: 'noteFailure' },
  { actions: 'noteFailure' }
] as const
const refused = { target: 'refused', actions: 'noteFailure' } as const
const disbelieved = { target: 'down', actions: 'noteFailure' } as const

/** The machine's user provides the jitter of `backoff`. */
export const upstreamMachine = charts.createMachine({
  id: 'upstream',
  context: ({ input }) => ({
    policy: input,
    slot: null,
    lag: 0,
    failures: 0,
    attempt: 0,
    backwards: 0,
    reason: null
  }),
  initial: 'probing',
  states: {
    probing: { on: { answered, failed: { target: 'down', actions: 'noteFailure' }, refused, disbelieved } },
    healthy: { on: { answered, failed, refused, disbelieved } },
    lagging: { on: { answered, failed, refused, disbelieved } },
    down: { entry: 'countAttempt', on: { reconnect: 'probing' }, after: { backoff: 'probing' } },
    refused: { after: { recheck: 'probing' } }
  }
})

export type UpstreamState = 'probing' | 'healthy' | 'lagging' | 'down' | 'refused'
