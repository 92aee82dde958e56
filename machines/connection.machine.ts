import { assign, setup } from 'xstate'

/**
 * One client of the stream, as its socket, its replays and its queue do. Events never pass through it: it changes state a
 * few times in a connection's life.
 *
 * C1. It is `live` when every subscription is told blocks as they come, `replaying` while one of them catches up.
 * C2. It is `overflowing` from the first event dropped until nothing is owed any more.
 * C3. What drains is told nothing new; what is closed stays so.
 */
export interface ConnectionContext {
  /** Subscriptions that catch up. */
  readonly replays: number
}

export type ConnectionEvent =
  | { readonly type: 'opened' }
  | { readonly type: 'replay.begun' }
  | { readonly type: 'replay.ended' }
  | { readonly type: 'overflowed' }
  | { readonly type: 'caught up' }
  | { readonly type: 'drain' }
  | { readonly type: 'closed' }

const charts = setup({
  types: { context: {} as ConnectionContext, events: {} as ConnectionEvent },
  actions: {
    countReplay: assign({ replays: ({ context }) => context.replays + 1 }),
    discountReplay: assign({ replays: ({ context }) => context.replays - 1 })
  },
  guards: {
    isLastReplay: ({ context }) => context.replays === 1,
    hasReplays: ({ context }) => context.replays > 0
  }
})

export const connectionMachine = charts.createMachine({
  id: 'connection',
  context: { replays: 0 },
  initial: 'opening',
  on: { drain: '.draining', closed: '.closed' },
  states: {
    opening: { on: { opened: 'live' } },
    live: {
      on: { 'replay.begun': { target: 'replaying', actions: 'countReplay' }, overflowed: 'overflowing' }
    },
    replaying: {
      on: {
        'replay.begun': { actions: 'countReplay' },
        'replay.ended': [
          { guard: 'isLastReplay', target: 'live', actions: 'discountReplay' },
          { actions: 'discountReplay' }
        ],
        overflowed: 'overflowing'
      }
    },
    overflowing: {
      on: {
        'replay.begun': { actions: 'countReplay' },
        'replay.ended': { actions: 'discountReplay' },
        'caught up': [{ guard: 'hasReplays', target: 'replaying' }, { target: 'live' }]
      }
    },
    draining: { on: { drain: {} } },
    closed: { type: 'final' }
  }
})

export type ConnectionState = 'opening' | 'live' | 'replaying' | 'overflowing' | 'draining' | 'closed'
