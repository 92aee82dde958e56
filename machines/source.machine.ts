import { assign, setup } from 'xstate'
import { backoffMs } from './backoff.ts'
import type { Policy } from './unit.ts'

/**
 * The health of a source of blocks, judged only by the newest slot it reports: a connection with traffic and no newer
 * slot counts as dead.
 *
 * P1. Progress is a slot above every earlier one and above the stored head. A lower slot is counted and changes
 *     nothing.
 * P2. Without progress for `stallMs` the source is stalled. It reconnects after an exponential backoff, which
 *     progress resets.
 * P3. A refused source, as by a wrong token, retries rarely.
 */
export interface SourceContext {
  readonly policy: SourcePolicy
  /** The newest slot so far. */
  readonly slot: number | null
  /** Reconnects in a row without progress. */
  readonly attempt: number
  /** Number of slots below an earlier one. */
  readonly backwards: number
  /** Why the source does not advance; null while it does. */
  readonly reason: string | null
}

export interface SourcePolicy extends Pick<Policy, 'backoff'> {
  /** Milliseconds without a newer slot after which it is stalled. */
  readonly stallMs: number
  /** Milliseconds until a refused source retries. */
  readonly recheckMs: number
}

export type SourceEvent =
  /** All slots up to this one are already known, so they are not progress. */
  | { readonly type: 'reached'; readonly slot: number }
  | { readonly type: 'slot'; readonly slot: number }
  /** The connection, or that to every node, is lost. */
  | { readonly type: 'lost'; readonly reason: string }
  /** The source refuses us; a retry does not help. */
  | { readonly type: 'refused'; readonly reason: string }

const charts = setup({
  types: {
    context: {} as SourceContext,
    events: {} as SourceEvent,
    input: {} as SourcePolicy
  },
  actions: {
    /** Provided by the user of the machine: closes the open connection and opens a new one. */
    connect: () => undefined,
    advance: assign(({ event }) =>
      event.type === 'slot' ? { slot: event.slot, attempt: 0, reason: null } : {}
    ),
    noteReached: assign(({ context, event }) =>
      event.type === 'reached' ? { slot: Math.max(event.slot, context.slot ?? -1) } : {}
    ),
    noteBackwards: assign(({ context, event }) =>
      event.type === 'slot' && event.slot < (context.slot ?? 0) ? { backwards: context.backwards + 1 } : {}
    ),
    noteReason: assign(({ event }) => ('reason' in event ? { reason: event.reason } : {})),
    noteStall: assign(({ context }) => ({ reason: `no newer slot for ${context.policy.stallMs} ms` })),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1 })
  },
  guards: {
    isNewer: ({ context, event }) => event.type === 'slot' && event.slot > (context.slot ?? -1)
  },
  delays: {
    stall: ({ context }) => context.policy.stallMs,
    recheck: ({ context }) => context.policy.recheckMs,
    backoff: ({ context }) => backoffMs(context.policy.backoff, context.attempt)
  }
})

const slot = [
  { guard: 'isNewer', target: 'advancing', reenter: true, actions: 'advance' },
  { actions: 'noteBackwards' }
] as const
const lost = { target: 'waiting', actions: 'noteReason' } as const
const refused = { target: 'refused', actions: 'noteReason' } as const
const stall = { target: 'stalled', actions: 'noteStall' } as const

/** The machine's user provides `connect` and the jitter of `backoff`. */
export const sourceMachine = charts.createMachine({
  id: 'source',
  context: ({ input }) => ({ policy: input, slot: null, attempt: 0, backwards: 0, reason: null }),
  initial: 'connecting',
  on: { reached: { actions: 'noteReached' } },
  states: {
    connecting: { entry: 'connect', on: { slot, lost, refused }, after: { stall } },
    advancing: { on: { slot, lost, refused }, after: { stall } },
    /** Connected as far as is known, but no newer slot arrives. */
    stalled: { entry: 'countAttempt', on: { slot, lost, refused }, after: { backoff: 'connecting' } },
    waiting: {
      entry: 'countAttempt',
      on: { slot, lost: { actions: 'noteReason' }, refused },
      after: { backoff: 'connecting' }
    },
    refused: {
      on: { slot, lost, refused: { actions: 'noteReason' } },
      after: { recheck: 'connecting' }
    }
  }
})

export type SourceState = 'connecting' | 'advancing' | 'stalled' | 'waiting' | 'refused'
