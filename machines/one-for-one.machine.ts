import { assign, enqueueActions, sendTo, setup } from 'xstate'
import type { Host, Resources, UnitInput, UnitLogic } from './unit.ts'

/**
 * Units side by side, one region each: a unit restarts without the others. They start and end together. They give no
 * resources to one another or outward, because each may be replaced alone.
 */
export interface OneForOneContext {
  readonly host: Host
  readonly given: Resources
  readonly members: Readonly<Record<string, 'starting' | 'ready' | 'gone'>>
  /** The fault of the first failed member, or null. */
  readonly error: Error | null
  readonly stuck: boolean
}

/** An `UnitRequest`, or `UnitEvent` of a member under its name. */
export interface OneForOneEvent {
  readonly type: string
  readonly error?: Error
}

/** One for each name; the names are known when the machine is made. */
const members: Record<string, UnitLogic> = {}

const charts = setup({
  types: { context: {} as OneForOneContext, events: {} as OneForOneEvent, input: {} as UnitInput },
  actors: members,
  actions: {
    drainMembers: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.members)) enqueue.sendTo(name, { type: 'drain' })
    }),
    killMembers: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.members)) enqueue.sendTo(name, { type: 'kill' })
    }),
    noteFailure: assign(({ context, event }) => ({ error: context.error ?? event.error ?? null })),
    noteStuck: assign({ stuck: true }),
    announceReady: enqueueActions(({ context, enqueue, self }) => {
      const states = Object.values(context.members)
      if (states.includes('starting') || !states.includes('ready')) return
      enqueue.sendTo(context.host, { type: `${self.id}.ready`, gives: {} })
    }),
    announceEnd: sendTo(
      ({ context }) => context.host,
      ({ context, self }) => {
        if (context.error === null) return { type: `${self.id}.exited` }
        return { type: `${self.id}.${context.stuck ? 'stuck' : 'crashed'}`, error: context.error }
      }
    )
  }
})

/** Returns the machine of units side by side; the wiring provides an actor for each name. */
export function oneForOne(id: string, names: readonly string[]) {
  return charts.createMachine({
    id,
    context: ({ input }) => ({
      ...input,
      members: Object.fromEntries(names.map((name) => [name, 'starting'])),
      error: null,
      stuck: false
    }),
    initial: 'running',
    states: {
      running: {
        type: 'parallel',
        on: { drain: { actions: 'drainMembers' }, kill: { actions: 'killMembers' } },
        states: Object.fromEntries(names.map((name) => [name, region(name)])),
        onDone: 'ended'
      },
      ended: { type: 'final', entry: 'announceEnd' }
    }
  })
}

function region(name: string) {
  const become = (state: 'ready' | 'gone') =>
    charts.assign({ members: ({ context }) => ({ ...context.members, [name]: state }) })
  return charts.createStateConfig({
    invoke: { id: name, src: name, input: ({ context, self }) => ({ host: self, given: context.given }) },
    initial: 'up',
    states: {
      up: {
        on: {
          [`${name}.ready`]: { actions: [become('ready'), 'announceReady'] },
          [`${name}.exited`]: 'gone',
          [`${name}.crashed`]: { target: 'gone', actions: ['noteFailure', 'killMembers'] },
          [`${name}.stuck`]: { target: 'gone', actions: ['noteFailure', 'noteStuck', 'killMembers'] }
        }
      },
      gone: { type: 'final', entry: [become('gone'), 'announceReady'] }
    }
  })
}
