import { assign, sendTo, setup } from 'xstate'
import { missing } from './unit.ts'
import type { UnitRequest, UnitEvent } from './unit.ts'

/**
 * The whole tree as one unit, from its start to the end of the operating system's process. Its drain has one
 * deadline, whatever its units were promised; so has its kill, after which the tree is abandoned.
 */
export interface ServiceContext {
  readonly drainMs: number
  readonly killMs: number
  /** Why the service failed; null if it did not. */
  readonly error: Error | null
}

export type ServiceEvent = UnitRequest | UnitEvent<'tree'>

/** The end of a service: stopped, or failed with the fault for which the process exits non-zero. */
export type ServiceOutput = { readonly kind: 'stopped' } | { readonly kind: 'failed'; readonly error: Error }

export const serviceMachine = setup({
  types: {
    context: {} as ServiceContext,
    events: {} as ServiceEvent,
    input: {} as { readonly drainMs: number; readonly killMs: number },
    output: {} as ServiceOutput
  },
  actors: { tree: missing },
  delays: { drain: ({ context }) => context.drainMs, kill: ({ context }) => context.killMs },
  actions: {
    drainTree: sendTo('tree', { type: 'drain' }),
    killTree: sendTo('tree', { type: 'kill' }),
    abandon: assign({ error: ({ context }) => new Error(`not ended ${context.killMs} ms after its kill`) })
  }
}).createMachine({
  id: 'service',
  context: ({ input }) => ({ ...input, error: null }),
  initial: 'running',
  states: {
    running: {
      invoke: { id: 'tree', src: 'tree', input: ({ self }) => ({ host: self, given: {} }) },
      on: {
        'tree.exited': 'stopped',
        'tree.crashed': { target: 'failed', actions: assign({ error: ({ event }) => event.error }) },
        'tree.stuck': { target: 'failed', actions: assign({ error: ({ event }) => event.error }) }
      },
      initial: 'starting',
      states: {
        starting: { on: { 'tree.ready': 'ready', drain: 'draining', kill: 'killing' } },
        ready: { on: { drain: 'draining', kill: 'killing' } },
        draining: { entry: 'drainTree', after: { drain: 'killing' }, on: { kill: 'killing' } },
        killing: { entry: 'killTree', after: { kill: { target: '#failed', actions: 'abandon' } } }
      }
    },
    stopped: { type: 'final' },
    failed: { id: 'failed', type: 'final' }
  },
  output: ({ context: { error } }) => (error === null ? { kind: 'stopped' } : { kind: 'failed', error })
})
