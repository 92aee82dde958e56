import { assign, setup } from 'xstate'
import { backoffMs } from './backoff.ts'
import type { Policy } from './unit.ts'

/**
 * How a source of blocks does, judged by the newest slot that it tells of and by nothing else: a connection that carries
 * traffic and no newer slot is as good as none.
 *
 * P1. Only a slot above every one before, and above what is stored, is progress; one that goes backwards is counted and
 *     changes nothing.
 * P2. Without progress for a stated time it is stalled, and connects anew after a wait that doubles until there is some.
 * P3. Refused, as by a wrong token, it tries again rarely.
 */
export interface SourceContext {
  readonly policy: SourcePolicy
  /** The newest slot of all. */
  readonly slot: number | null
  /** Waits in a row without progress. */
  readonly attempt: number
  /** How often a slot was below one before. */
  readonly backwards: number
  /** Why it is not advancing. */
  readonly reason: string | null
}

export interface SourcePolicy extends Pick<Policy, 'backoff'> {
  /** Without a newer slot for so long, it is stalled. */
  readonly stallMs: number
  /** Until a refused one tries again. */
  readonly recheckMs: number
}

export type SourceEvent =
  /** Slots up to this one are known already: none of them is progress. */
  | { readonly type: 'reached'; readonly slot: number }
  | { readonly type: 'slot'; readonly slot: number }
  /** The connection, or that to every node, is lost. */
  | { readonly type: 'lost'; readonly reason: string }
  /** Asking again does not help. */
  | { readonly type: 'refused'; readonly reason: string }

const charts = setup({
  types: {
    context: {} as SourceContext,
    events: {} as SourceEvent,
    input: {} as SourcePolicy
  },
  actions: {
    /** Provided: opens what the source reads from, after giving up what was open. */
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

/** `connect` and the jitter of `backoff` are provided where it is used. */
export const sourceMachine = charts.createMachine({
  id: 'source',
  context: ({ input }) => ({ policy: input, slot: null, attempt: 0, backwards: 0, reason: null }),
  initial: 'connecting',
  on: { reached: { actions: 'noteReached' } },
  states: {
    connecting: { entry: 'connect', on: { slot, lost, refused }, after: { stall } },
    advancing: { on: { slot, lost, refused }, after: { stall } },
    /** Connected, for all one knows; but nothing moves. */
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
