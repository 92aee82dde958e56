import { deepStrictEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { and, assign, createActor, createMachine, initialTransition, raise, transition } from 'xstate'
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition, EventObject } from 'xstate'
import { bundleMachine } from '../../machines/bundle.machine.ts'
import { compiled, type MachineTable, type TableSnapshot } from '../../machines/compiled.ts'
import { connectionMachine } from '../../machines/connection.machine.ts'
import { EVIDENCE } from '../../machines/landing.ts'
import { rpcSubscriptionMachine } from '../../machines/rpc-subscription.machine.ts'
import { transactionMachine } from '../../machines/transaction.machine.ts'
import { FAILED_DELIVERIES_MAX, webhookMachine } from '../../machines/webhook.machine.ts'
import { randomRuns } from '../random-runs.ts'

const oneOf = fc.constantFrom
const anySlot = oneOf(1, 2)
const anyCommitment = oneOf('processed', 'confirmed', 'finalized', 'finalized')
/** Times and slots of answers on both sides of the bounds after which the word of one node counts. */
const anyTime = oneOf(0, 9_600, 19_200, 60_000)
const anyContextSlot = oneOf(3, 30, 200)
const anyError = oneOf(null, null, 'AccountNotFound', { InstructionError: [0, 'Custom'] })

/** The fields of events that have some, by machine and type. */
const FIELDS: Record<string, Record<string, Record<string, fc.Arbitrary<unknown>>>> = {
  webhook: {
    'batch.restored': { attempts: fc.nat(2), waitMs: oneOf(0, 700) },
    'post.failed': { retryAfterMs: oneOf(null, 1_000, 8_000, 86_400_000) },
    'webhook.enabled': { failures: oneOf(0, FAILED_DELIVERIES_MAX - 1) }
  },
  transaction: {
    'send.made': { atMs: fc.nat(3), slot: fc.option(anySlot), leaders: fc.nat(1) },
    'block.seen': {
      slot: anySlot,
      commitment: anyCommitment,
      index: fc.nat(1),
      failed: fc.boolean(),
      atMs: anyTime
    },
    'status.seen': {
      slot: anySlot,
      commitment: anyCommitment,
      err: anyError,
      confirmations: oneOf(null, 3),
      atMs: anyTime,
      contextSlot: anyContextSlot,
      nodes: oneOf(1, 1, 2)
    },
    'landing.upheld': { slot: anySlot, evidence: oneOf('block', 'node'), index: oneOf(null, 7) },
    'fork.lost': { afterSlot: fc.nat(3) },
    'progress.restored': {
      context: fc.record({
        sends: fc.nat(3),
        leadersSent: fc.nat(3),
        firstSentAtMs: oneOf(null, 1),
        lastSentAtMs: oneOf(null, 2),
        firstSentSlot: oneOf(null, 1),
        slot: fc.option(anySlot),
        commitment: fc.option(anyCommitment),
        index: oneOf(null, 7),
        err: anyError,
        confirmations: oneOf(null, 3),
        landedAtMs: oneOf(null, 1),
        evidence: oneOf(null, 'claim', ...EVIDENCE),
        claimedAtMs: fc.option(anyTime),
        claimedSlot: fc.option(anyContextSlot)
      })
    }
  }
}
/** Events that few paths should have, because they end or interrupt everything else. */
const RARE = [
  'closed',
  'drain',
  'ended',
  'webhook.disabled',
  'lifetime.ended',
  'following.ended',
  'post.gone'
]

const anyEventOf = ({ id, events }: AnyStateMachine): fc.Arbitrary<EventObject> =>
  fc.oneof(
    ...[...(events as string[]), 'unknown.event'].map((type) => ({
      weight: RARE.includes(type) ? 1 : 8,
      arbitrary: fc.record({ type: fc.constant(type), ...FIELDS[id]?.[type] })
    }))
  )

/**
 * Transitions that no event can take. A block that was read is no claim, a status never has an unknown error, and in
 * `failing` a block was read.
 */
const UNREACHABLE = [
  / block\.seen isClaimed$/,
  / status\.seen isFailing$/,
  /\.failing (block\.seen hasFailed|status\.seen isClaimed)$/
]

/** All transitions of a state and of the states within it. */
const transitionsOf = (node: AnyStateNode): AnyTransitionDefinition[] => [
  ...[...node.transitions.values()].flat(),
  ...Object.values<AnyStateNode>(node.states).flatMap(transitionsOf)
]

for (const machine of [
  webhookMachine,
  transactionMachine,
  bundleMachine,
  rpcSubscriptionMachine,
  connectionMachine
] as AnyStateMachine[])
  t.test(`the table of ${machine.id} takes every transition as XState does`, async (t) => {
    const table = compiled(machine) as MachineTable<unknown, unknown, EventObject>
    const untaken = new Set(transitionsOf(machine.root))
    fc.assert(
      fc.property(fc.array(anyEventOf(machine), { maxLength: 60, size: 'max' }), (events) => {
        let [expected] = initialTransition(machine)
        let snapshot = table.initial
        for (const event of events) {
          const before = { expected, snapshot }
          if (expected.status === 'active') {
            for (const each of machine.getTransitionData(expected, event)) untaken.delete(each)
            ;[expected] = transition(machine, expected, event)
          }
          snapshot = table.next(snapshot, event)
          const { value, context, status } = expected as TableSnapshot<unknown, unknown>
          deepStrictEqual(snapshot, { value, context, status })
          if (expected === before.expected) ok(snapshot === before.snapshot, 'nothing has changed')
        }
      }),
      randomRuns(3_000)
    )
    const names = [...untaken].map(
      ({ source, eventType, guard }) => `${source.id} ${eventType} ${guard as string}`
    )
    t.same(
      names.filter((name) => !UNREACHABLE.some((pattern) => pattern.test(name))),
      []
    )
  })

t.test('a final state ignores every event, as an actor that is done', async (t) => {
  const actor = createActor(connectionMachine).start()
  const { initial, next } = compiled(connectionMachine)
  const closed = next(initial, { type: 'closed' })
  for (const type of ['closed', 'drain'] as const) actor.send({ type })
  t.same(closed, { value: 'closed', context: { replays: 0 }, status: 'done' })
  t.equal(next(closed, { type: 'drain' }), closed)
  t.match(actor.getSnapshot(), closed)
})

/** Charts by what the table lacks, and the message that says so. */
const REFUSED: [what: string, state: object, message: string][] = [
  ['always', { always: 'b' }, 'state "chart.a" has "always"'],
  ['entry actions', { entry: 'count' }, 'state "chart.a" has "entry"'],
  ['exit actions', { exit: 'count' }, 'state "chart.a" has "exit"'],
  ['delays', { after: { 100: 'b' } }, 'state "chart.a" has "after"'],
  ['actors', { invoke: { src: 'actor' } }, 'state "chart.a" has "invoke"'],
  ['tags', { tags: ['slow'] }, 'state "chart.a" has "tags"'],
  ['parallel states', { type: 'parallel', states: { x: {}, y: {} } }, 'state "chart.a" is parallel'],
  ['history', { initial: 'x', states: { x: {}, y: { type: 'history' } } }, 'state "chart.a.y" is history'],
  [
    'inner final states',
    { initial: 'x', states: { x: { type: 'final' } } },
    'state "chart.a.x" is final inside another state'
  ],
  [
    'initial actions',
    { initial: { target: 'x', actions: 'count' }, states: { x: {} } },
    'state "chart.a" has an "initial" with actions'
  ],
  ['wildcards', { on: { '*': 'b' } }, 'state "chart.a" has the wildcard "*"'],
  ['wildcards of a prefix', { on: { 'go.*': 'b' } }, 'state "chart.a" has the wildcard "go.*"'],
  ['several targets', { on: { go: { target: ['b', 'c'] } } }, 'state "chart.a" has 2 targets of "go"'],
  [
    'inline guards',
    { on: { go: { guard: () => true, target: 'b' } } },
    'state "chart.a" has a guard that is no named function: undefined'
  ],
  [
    'composed guards',
    { on: { go: { guard: 'isBoth', target: 'b' } } },
    'state "chart.a" has a guard that is no named function: "isBoth"'
  ],
  [
    'guards with params',
    { on: { go: { guard: { type: 'isFirst', params: 1 }, target: 'b' } } },
    'state "chart.a" has a guard that is no named function: {"type":"isFirst","params":1}'
  ],
  [
    'missing guards',
    { on: { go: { guard: 'isLast', target: 'b' } } },
    'state "chart.a" has a guard that is no named function: "isLast"'
  ],
  [
    'effects',
    { on: { go: { actions: 'log' } } },
    'state "chart.a" has an action that is no named assign: "log"'
  ],
  [
    'raised events',
    { on: { go: { actions: 'raise' } } },
    'state "chart.a" has an action that is no named assign: "raise"'
  ]
]

/** Returns a machine whose first state is the given one. */
const chartWith = (a: object, context: unknown = { n: 0 }): AnyStateMachine =>
  createMachine(
    { id: 'chart', context, initial: 'a', states: { a, b: {}, c: {} } } as Parameters<
      typeof createMachine
    >[0],
    {
      actions: {
        count: assign({ n: ({ context }) => (context as { n: number }).n + 1 }),
        raise: raise({ type: 'go' }),
        log: () => undefined
      },
      guards: {
        isFirst: ({ context }) => context['n'] === 0,
        isBoth: and(['isFirst', 'isFirst'])
      }
    }
  )

for (const [what, state, message] of REFUSED)
  t.test(`a machine with ${what} is refused when it is compiled`, async (t) => {
    t.throws(() => compiled(chartWith(state)), { message: `machine "chart" cannot be a table: ${message}` })
  })

t.test('a machine whose context depends on an input, and one without states, is refused', async (t) => {
  t.throws(() => compiled(chartWith({}, () => ({ n: 0 }))), { message: /context that depends on an input/ })
  t.throws(() => compiled(createMachine({ id: 'one' })), { message: /state "one" is atomic/ })
})

t.test('actions of a transition run one after another, and an unknown state is an error', async (t) => {
  const machine = chartWith({ on: { go: { guard: 'isFirst', actions: ['count', 'count'] } } })
  const { initial, next } = compiled(machine) as MachineTable<unknown, unknown, EventObject>
  const counted = next(initial, { type: 'go' })
  t.same(counted, { value: 'a', context: { n: 2 }, status: 'active' })
  t.equal(next(counted, { type: 'go' }), counted)
  t.throws(() => next({ ...counted, value: 'd' }, { type: 'go' }), { message: 'chart has no state "d"' })
})
