import { assign, enqueueActions, sendTo, setup } from 'xstate'
import { backoffMs } from './backoff.ts'
import { StartRefused } from './start-refused.ts'
import { missing } from './unit.ts'
import type { UnitRequest, Host, UnitEvent, Policy, Resources, UnitInput } from './unit.ts'

/**
 * One unit under its policy, with the units built on it inside. Events only record facts; the states act on them.
 *
 * S1. The inside starts after the process is ready, and has drained before the process receives its drain.
 * S2. A process that ended or is to be killed takes everything inside with it: a kill reaches all at once, so that nothing
 *     restarts on a process that is about to end (INVARIANTS 8).
 * S3. The next instance starts after the last one has ended and its backoff has passed. An instance that does not end is
 *     stuck: this unit and every unit outside it fail.
 * S4. A drain or a kill ends every state, and nothing restarts after it.
 */
export interface SupervisedContext {
  readonly policy: Policy
  readonly host: Host
  readonly given: Resources
  /** Number of starts of the process. */
  readonly starts: number
  /** Crashes within the period of the intensity. */
  readonly crashes: number
  /** Crashes in a row without a stable run between them. */
  readonly attempt: number
  readonly process: 'up' | 'gone'
  readonly inside: 'up' | 'gone'
  /** Null until the process is ready. */
  readonly gives: Resources | null
  /** The host has requested the end of the unit. */
  readonly ending: boolean
  /** This instance ends because of a fault. */
  readonly broken: boolean
  /** The fault is one crash too many: the unit fails instead of restarting. */
  readonly doomed: boolean
  readonly stuck: boolean
  /** The last fault of any instance. */
  readonly error: Error | null
}

export type SupervisedEvent =
  | UnitRequest
  | UnitEvent<'process'>
  | UnitEvent<'inside'>
  | { readonly type: 'crash.expired' }

/**
 * Records the first fault of an instance as its cause of death; later ones follow from it. A refused start fails the
 * unit and every unit outside it, because a restart would end the same way.
 */
function fault(context: SupervisedContext, error: Error) {
  const doomed = error instanceof StartRefused || isOnceTooOften(context)
  return context.broken ? {} : { broken: true, doomed, error }
}

function isOnceTooOften({ policy, crashes, gives }: SupervisedContext): boolean {
  return policy.restart === 'temporary' ? gives === null : crashes >= policy.intensity.crashes
}

const charts = setup({
  types: {
    context: {} as SupervisedContext,
    events: {} as SupervisedEvent,
    input: {} as UnitInput
  },
  actors: { process: missing, inside: missing },
  delays: {
    start: ({ context }) => context.policy.startMs,
    stable: ({ context }) => context.policy.stableAfterMs,
    drain: ({ context }) => context.policy.drainMs,
    kill: ({ context }) => context.policy.killMs,
    backoff: ({ context }) => backoffMs(context.policy.backoff, context.attempt)
  },
  guards: {
    isReady: ({ context }) => context.gives !== null,
    isGone: ({ context }) => context.process === 'gone',
    isEmpty: ({ context }) => context.inside === 'gone',
    isHollow: ({ context }) => context.process === 'gone' && context.inside === 'gone',
    isClosing: ({ context }) => context.process === 'gone' || context.broken || context.stuck,
    isStuck: ({ context }) => context.stuck,
    isDoomed: ({ context }) => context.doomed,
    isFinished: ({ context }) =>
      context.ending || !context.broken || (context.policy.restart === 'temporary' && !context.doomed)
  },
  actions: {
    begin: assign({
      process: 'up',
      gives: null,
      broken: false,
      doomed: false,
      starts: ({ context }) => context.starts + 1
    }),
    end: assign({ ending: true }),
    overrun: assign(({ context }) =>
      fault(context, new Error(`not ready within ${context.policy.startMs} ms`))
    ),
    overstay: assign(({ context }) => ({
      error: new Error(`still running ${context.policy.drainMs} ms after its drain`)
    })),
    outlive: assign(({ context }) => ({
      stuck: true,
      error: new Error(`still running ${context.policy.killMs} ms after its kill`, { cause: context.error })
    })),
    drainProcess: sendTo('process', { type: 'drain' }),
    killProcess: sendTo('process', { type: 'kill' }),
    drainInside: sendTo('inside', { type: 'drain' }),
    killInside: sendTo('inside', { type: 'kill' }),
    countCrash: enqueueActions(({ context, enqueue }) => {
      if (!context.broken) return
      enqueue.assign({ crashes: context.crashes + 1, attempt: context.attempt + 1 })
      enqueue.raise({ type: 'crash.expired' }, { delay: context.policy.intensity.periodMs })
    }),
    // Sent early, so that the host ends the units built on this one while the rest of it is still ending.
    announceDoom: enqueueActions(({ context, enqueue, self }) => {
      const { doomed, ending, error, host } = context
      if (doomed && !ending) enqueue.sendTo(host, { type: `${self.id}.failing`, error })
    }),
    announceExit: sendTo(
      ({ context }) => context.host,
      ({ self }) => ({ type: `${self.id}.exited` })
    ),
    announceFailure: sendTo(
      ({ context }) => context.host,
      ({ context, self }) => ({
        type: `${self.id}.${context.stuck ? 'stuck' : 'crashed'}`,
        error: context.error
      })
    )
  }
})

/** Returns the machine of one unit; the wiring provides `process`, `inside` and the jitter of `backoff`. */
export function supervised(name: string, policy: Policy) {
  return charts.createMachine({
    id: name,
    context: ({ input }) => ({
      policy,
      ...input,
      starts: 0,
      crashes: 0,
      attempt: 0,
      process: 'gone',
      inside: 'gone',
      gives: null,
      ending: false,
      broken: false,
      doomed: false,
      stuck: false,
      error: null
    }),
    on: { 'crash.expired': { actions: assign({ crashes: ({ context }) => context.crashes - 1 }) } },
    initial: 'running',
    states: {
      running: {
        entry: 'begin',
        invoke: {
          id: 'process',
          src: 'process',
          input: ({ context, self }) => ({ host: self, given: context.given })
        },
        on: {
          drain: { actions: 'end' },
          kill: { actions: 'end' },
          'process.ready': { actions: assign({ gives: ({ event }) => event.gives }) },
          'process.failing': { actions: assign(({ context, event }) => fault(context, event.error)) },
          'process.exited': {
            actions: assign(({ context }) => ({
              process: 'gone' as const,
              ...(exitIsCrash(context) && fault(context, new Error('returned without a request to drain')))
            }))
          },
          'process.crashed': {
            actions: assign(({ context, event }) => ({
              process: 'gone' as const,
              ...fault(context, event.error)
            }))
          },
          'process.stuck': {
            actions: assign(({ event }) => ({ process: 'gone' as const, stuck: true, error: event.error }))
          },
          'inside.exited': { actions: assign({ inside: 'gone' }) },
          'inside.crashed': {
            actions: assign(({ context, event }) => ({
              inside: 'gone' as const,
              ...fault(context, event.error)
            }))
          },
          'inside.stuck': {
            actions: assign(({ event }) => ({ inside: 'gone' as const, stuck: true, error: event.error }))
          }
        },
        initial: 'starting',
        states: {
          starting: {
            always: [
              { guard: 'isGone', target: '#settling' },
              { guard: 'isReady', target: 'serving' }
            ],
            after: { start: { actions: 'overrun', target: 'killing' } },
            on: {
              drain: { actions: 'end', target: 'draining' },
              kill: { actions: 'end', target: 'killing' }
            }
          },
          serving: {
            entry: assign({ inside: 'up' }),
            invoke: {
              id: 'inside',
              src: 'inside',
              input: ({ context, self }) => ({ host: self, given: { ...context.given, ...context.gives } })
            },
            initial: 'open',
            states: {
              open: {
                always: { guard: 'isClosing', target: 'clearing' },
                on: {
                  'inside.ready': {
                    actions: sendTo(
                      ({ context }) => context.host,
                      ({ context, event, self }) => ({
                        type: `${self.id}.ready`,
                        gives: { ...context.gives, ...event.gives }
                      })
                    )
                  },
                  drain: { actions: 'end', target: 'emptying' },
                  kill: { actions: 'end', target: 'clearing' }
                },
                initial: 'fresh',
                states: {
                  fresh: { after: { stable: 'stable' } },
                  stable: { entry: assign({ attempt: 0 }) }
                }
              },
              emptying: {
                entry: 'drainInside',
                always: [
                  { guard: 'isHollow', target: '#settling' },
                  { guard: 'isEmpty', target: '#draining' },
                  { guard: 'isClosing', target: 'clearing' }
                ],
                on: { kill: 'clearing' }
              },
              clearing: {
                entry: ['killInside', 'killProcess', 'announceDoom'],
                always: [
                  { guard: 'isHollow', target: '#settling' },
                  { guard: 'isEmpty', target: '#killing' }
                ]
              }
            }
          },
          draining: {
            id: 'draining',
            entry: 'drainProcess',
            always: { guard: 'isGone', target: '#settling' },
            after: { drain: { actions: 'overstay', target: 'killing' } },
            on: { kill: 'killing' }
          },
          killing: {
            id: 'killing',
            entry: 'killProcess',
            always: { guard: 'isGone', target: '#settling' },
            after: { kill: { actions: 'outlive', target: '#settling' } }
          }
        }
      },
      settling: {
        id: 'settling',
        entry: 'countCrash',
        always: [
          { guard: 'isStuck', target: 'failed' },
          { guard: 'isFinished', target: 'stopped' },
          { guard: 'isDoomed', target: 'failed' },
          { target: 'backoff' }
        ]
      },
      backoff: { after: { backoff: 'running' }, on: { drain: 'stopped', kill: 'stopped' } },
      stopped: { type: 'final', entry: 'announceExit' },
      failed: { type: 'final', entry: 'announceFailure' }
    }
  })
}

/**
 * Tells whether a return of the process is a crash. Under any policy an end before the unit was ready is a crash, because
 * nothing inside could have started.
 */
function exitIsCrash({ ending, gives, policy }: SupervisedContext): boolean {
  return !ending && (policy.restart === 'permanent' || gives === null)
}
