import { assign, setup } from 'xstate'
import { backoffMs, type Backoff } from './backoff.ts'

/**
 * One WebSocket to a node, for subscriptions.
 *
 * L1. It connects only when a subscription wants it, and closes some time after the last one has left.
 * L2. After a failure it waits, longer each time; the node has to prove itself by a slot before the wait is short again.
 */
export interface PubsubLinkContext {
  readonly policy: PubsubLinkPolicy
  /** Failures in a row, without a slot between them. */
  readonly attempt: number
  /** The last failure; null once the node has proved itself. */
  readonly reason: string | null
}

export interface PubsubLinkPolicy {
  readonly backoff: Backoff
  /** Milliseconds that a connection without subscriptions stays open. */
  readonly unusedMs: number
}

export type PubsubLinkEvent =
  | { readonly type: 'wanted' }
  | { readonly type: 'opened' }
  /** The node has reported a slot. */
  | { readonly type: 'proven' }
  /** The connection cannot be opened, or has ended. */
  | { readonly type: 'failed'; readonly reason: string }
  /** The last subscription has left. */
  | { readonly type: 'unused' }
  | { readonly type: 'closed' }

const charts = setup({
  types: { context: {} as PubsubLinkContext, events: {} as PubsubLinkEvent, input: {} as PubsubLinkPolicy },
  actions: {
    /** Provided by the machine's user. */
    connect: () => undefined,
    disconnect: () => undefined,
    ready: () => undefined,
    noteProof: assign({ attempt: 0, reason: null }),
    noteFailure: assign(({ context, event }) => ({
      attempt: context.attempt + 1,
      ...(event.type === 'failed' && { reason: event.reason })
    }))
  },
  delays: {
    backoff: ({ context }) => backoffMs(context.policy.backoff, context.attempt),
    unused: ({ context }) => context.policy.unusedMs
  }
})

const failed = { target: 'waiting', actions: 'noteFailure' } as const

export const pubsubLinkMachine = charts.createMachine({
  id: 'pubsub-link',
  context: ({ input }) => ({ policy: input, attempt: 0, reason: null }),
  initial: 'idle',
  on: { closed: '.closed' },
  states: {
    idle: { on: { wanted: 'connecting' } },
    connecting: { entry: 'connect', on: { opened: 'open', failed } },
    open: { on: { proven: { actions: 'noteProof' }, failed, unused: 'unused' } },
    unused: {
      on: { wanted: 'open', proven: { actions: 'noteProof' }, failed },
      after: { unused: { target: 'idle', actions: 'disconnect' } }
    },
    waiting: { after: { backoff: { target: 'idle', actions: 'ready' } } },
    closed: { type: 'final', entry: 'disconnect' }
  }
})

export type PubsubLinkState = 'idle' | 'connecting' | 'open' | 'unused' | 'waiting' | 'closed'
