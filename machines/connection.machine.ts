import { assign, setup } from 'xstate'

/**
 * The state of one client of the stream: its socket, replays and queue. Events of the stream do not pass through the
 * machine; it changes state a few times in a connection's life.
 *
 * C1. `live` when every subscription receives blocks as they come; `replaying` while one of them catches up.
 * C2. `overflowing` from the first dropped event until the queue is empty.
 * C3. A draining connection receives nothing new; a closed one stays closed.
 */
export interface ConnectionContext {
  /** Number of replays in progress. */
  readonly replays: number
}

export type ConnectionEvent =
  | { readonly type: 'opened' }
  | { readonly type: 'replay.begun' }
  | { readonly type: 'replay.ended' }
  | { readonly type: 'overflowed' }
  | { readonly type: 'queue.emptied' }
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
        'queue.emptied': [{ guard: 'hasReplays', target: 'replaying' }, { target: 'live' }]
      }
    },
    draining: { on: { drain: {} } },
    closed: { type: 'final' }
  }
})

export type ConnectionState = 'opening' | 'live' | 'replaying' | 'overflowing' | 'draining' | 'closed'
