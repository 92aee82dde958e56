import { assign, setup } from 'xstate'

/**
 * The state of one subscription at a node, shared by all clients that request it. Notifications do not pass through the
 * machine; it changes state a few times in a subscription's life.
 *
 * P1. A client's request is answered only while a node has the subscription: in `live` and `recovering`.
 * P2. Once a node had it, no refusal ends it. It is lost and requested again, and its clients keep it.
 * P3. Changes during a loss are read after a node has the subscription again, so that no change falls between the two.
 */
export interface RpcSubscriptionContext {
  /** Whether any node has had the subscription. */
  readonly wasLive: boolean
  /** Whether notifications may be missing since it was lost. */
  readonly hasGap: boolean
  readonly losses: number
  /** Gaps of which nothing could be read. */
  readonly unread: number
}

export type RpcSubscriptionEvent =
  /** The subscription was placed on a connection to a node. */
  | { readonly type: 'placed' }
  | { readonly type: 'accepted' }
  | { readonly type: 'refused' }
  /** The connection has ended, or its node is no longer good. */
  | { readonly type: 'lost' }
  | { readonly type: 'gap.read' }
  | { readonly type: 'gap.unreadable' }
  /** Its only notification was sent, or its last client has left. */
  | { readonly type: 'ended' }

const charts = setup({
  types: { context: {} as RpcSubscriptionContext, events: {} as RpcSubscriptionEvent },
  actions: {
    noteLive: assign({ wasLive: true }),
    noteLoss: assign(({ context: { wasLive, hasGap, losses } }) => ({
      hasGap: hasGap || wasLive,
      losses: losses + 1
    })),
    closeGap: assign({ hasGap: false }),
    countUnread: assign({ hasGap: false, unread: ({ context }) => context.unread + 1 })
  },
  guards: {
    hasGap: ({ context }) => context.hasGap,
    wasLive: ({ context }) => context.wasLive
  }
})

const lost = { target: 'waiting', actions: 'noteLoss' } as const

export const rpcSubscriptionMachine = charts.createMachine({
  id: 'rpc-subscription',
  context: { wasLive: false, hasGap: false, losses: 0, unread: 0 },
  initial: 'waiting',
  on: { ended: '.ended' },
  states: {
    waiting: { on: { placed: 'asked' } },
    asked: {
      on: {
        accepted: [
          { guard: 'hasGap', target: 'recovering', actions: 'noteLive' },
          { target: 'live', actions: 'noteLive' }
        ],
        refused: [{ guard: 'wasLive', target: 'waiting' }, { target: 'refused' }],
        lost
      }
    },
    live: { on: { lost } },
    recovering: {
      on: {
        'gap.read': { target: 'live', actions: 'closeGap' },
        'gap.unreadable': { target: 'live', actions: 'countUnread' },
        lost
      }
    },
    refused: { type: 'final' },
    ended: { type: 'final' }
  }
})

export type RpcSubscriptionState = 'waiting' | 'asked' | 'live' | 'recovering' | 'refused' | 'ended'
