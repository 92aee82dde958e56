import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { isLooping, transactionMachine, type TransactionEvent } from '../../machines/transaction.machine.ts'
import { stateName } from './explore.ts'

const ERR = { InstructionError: [0, 'Custom'] }
const seen = {
  type: 'status.seen',
  err: null,
  confirmations: 1,
  atMs: 9_000,
  contextSlot: 14,
  nodes: 2
} as const
const inBlock = { type: 'block.seen', index: 4, failed: false, atMs: 8_000 } as const
const RESTORED = {
  sends: 3,
  leadersSent: 2,
  firstSentAtMs: 500,
  lastSentAtMs: 2_500,
  firstSentSlot: 7,
  slot: null,
  commitment: null,
  index: null,
  err: null,
  confirmations: null,
  landedAtMs: null,
  evidence: null,
  claimedAtMs: null,
  claimedSlot: null
}
const ON_10 = { slot: 10, commitment: 'confirmed', landedAtMs: 700, evidence: 'claim' } as const

/** Events by the words of the table. */
const EVENTS: Record<string, TransactionEvent> = {
  send: { type: 'send.made', atMs: 1_000, slot: 8, leaders: 2 },
  'send again': { type: 'send.made', atMs: 3_000, slot: 13, leaders: 0 },
  'send by another route': { type: 'send.made', atMs: 1_000, slot: 8, leaders: 3 },
  'block 10': { ...inBlock, slot: 10, commitment: 'processed' },
  'block 10 confirmed': { ...inBlock, slot: 10, commitment: 'confirmed' },
  'block 10 failed': { ...inBlock, slot: 10, commitment: 'confirmed', failed: true },
  'block 12': { ...inBlock, slot: 12, commitment: 'processed', index: 6 },
  'processed 10': { ...seen, slot: 10, commitment: 'processed' },
  'processed 12': { ...seen, slot: 12, commitment: 'processed' },
  'confirmed 10': { ...seen, slot: 10, commitment: 'confirmed', confirmations: 3 },
  'confirmed 12': { ...seen, slot: 12, commitment: 'confirmed' },
  'finalized 10': { ...seen, slot: 10, commitment: 'finalized', confirmations: null },
  'processed 10 failed': { ...seen, slot: 10, commitment: 'processed', err: ERR },
  'confirmed 10 failed': { ...seen, slot: 10, commitment: 'confirmed', err: ERR },
  'finalized 10 failed': { ...seen, slot: 10, commitment: 'finalized', err: ERR, confirmations: null },
  'claim 10 final': { ...seen, slot: 10, commitment: 'finalized', nodes: 1, contextSlot: 20 },
  'claim 10 final 24 slots later': {
    ...seen,
    ...{ slot: 10, commitment: 'finalized', nodes: 1, contextSlot: 44, atMs: 18_600 }
  },
  'claim 10 final 24 slots later, at once': {
    ...seen,
    ...{ slot: 10, commitment: 'finalized', nodes: 1, contextSlot: 44 }
  },
  'claim 10 failed 24 slots later': {
    ...seen,
    ...{ slot: 10, commitment: 'finalized', err: ERR, nodes: 1, contextSlot: 44, atMs: 18_600 }
  },
  'claim 10 final a minute later': {
    ...seen,
    ...{ slot: 10, commitment: 'finalized', nodes: 1, contextSlot: 170, atMs: 69_000 }
  },
  'claim 12 final': { ...seen, slot: 12, commitment: 'finalized', nodes: 1, contextSlot: 50 },
  'block 10 given': { type: 'landing.upheld', slot: 10, evidence: 'block', index: 7 },
  'block 12 given': { type: 'landing.upheld', slot: 12, evidence: 'block', index: 7 },
  accepted: { type: 'landing.upheld', slot: 10, evidence: 'node', index: null },
  doubted: { type: 'landing.doubted' },
  'fork 9': { type: 'fork.lost', afterSlot: 9 },
  'fork 10': { type: 'fork.lost', afterSlot: 10 },
  ended: { type: 'lifetime.ended' },
  left: { type: 'following.ended' },
  restored: { type: 'progress.restored', context: RESTORED },
  'restored 10': { type: 'progress.restored', context: { ...RESTORED, ...ON_10 } }
}

const NOWHERE = { slot: null, commitment: null, index: null, err: null, landedAtMs: null }

const TABLE: [path: string, state: string, loops: boolean, context: object][] = [
  ['', 'sent', true, { sends: 0, firstSentAtMs: null, ...NOWHERE }],
  ['send', 'sent', true, { sends: 1, leadersSent: 2, firstSentAtMs: 1_000, firstSentSlot: 8 }],
  [
    'send, send again',
    'sent',
    true,
    { sends: 2, leadersSent: 2, firstSentAtMs: 1_000, lastSentAtMs: 3_000, firstSentSlot: 8 }
  ],
  ['send, send by another route', 'sent', true, { sends: 1, leadersSent: 5, lastSentAtMs: 1_000 }],
  [
    'send, send again, send by another route',
    'sent',
    true,
    { sends: 2, leadersSent: 5, lastSentAtMs: 3_000 }
  ],
  ['block 10', 'processed', true, { slot: 10, index: 4, landedAtMs: 8_000 }],
  ['processed 10', 'processed', true, { slot: 10, index: null, landedAtMs: 9_000 }],
  ['block 10, send', 'processed', true, { sends: 1 }],
  ['block 10, processed 10', 'processed', true, { index: 4, landedAtMs: 8_000, confirmations: 1 }],
  ['processed 10, block 10', 'processed', true, { index: 4, landedAtMs: 9_000 }],
  ['block 10, confirmed 10', 'confirmed', false, { slot: 10, confirmations: 3, landedAtMs: 8_000 }],
  ['confirmed 10, send', 'confirmed', false, { sends: 1 }],
  ['confirmed 10, processed 10', 'confirmed', false, { commitment: 'confirmed', confirmations: 3 }],
  ['confirmed 10, processed 12', 'confirmed', false, { slot: 10 }],
  ['confirmed 10, block 12', 'confirmed', false, { slot: 10 }],
  ['confirmed 10, confirmed 12', 'confirmed', false, { slot: 12 }],
  ['processed 10, processed 12', 'processed', true, { slot: 12 }],
  ['block 10, block 12', 'processed', true, { slot: 12, index: 6 }],
  ['block 10, processed 12', 'processed', true, { slot: 12, index: null, landedAtMs: 9_000 }],
  ['confirmed 10, finalized 10', 'finalized', false, { slot: 10, confirmations: null }],
  ['finalized 10', 'finalized', false, { err: null }],
  ['finalized 10, fork 9', 'finalized', false, { slot: 10 }],
  ['block 10, fork 9', 'sent', true, NOWHERE],
  ['block 10, fork 10', 'processed', true, { slot: 10 }],
  ['confirmed 10, fork 9', 'sent', true, NOWHERE],
  ['fork 9', 'sent', true, NOWHERE],
  ['block 10, fork 9, block 12', 'processed', true, { slot: 12, landedAtMs: 8_000 }],
  ['block 10 failed', 'failing', false, { slot: 10 }],
  ['block 10 failed, confirmed 10', 'failing', false, {}],
  ['block 10 failed, ended', 'failing', false, {}],
  ['block 10 failed, fork 9', 'sent', true, NOWHERE],
  ['block 10 failed, confirmed 10 failed', 'confirmed', false, { err: ERR, index: 4 }],
  ['block 10 failed, processed 10 failed', 'confirmed', false, { err: ERR, commitment: 'confirmed' }],
  ['block 10 failed, confirmed 12', 'confirmed', false, { err: null, slot: 12 }],
  ['processed 10 failed', 'processed', false, { err: ERR }],
  ['processed 10 failed, block 10 failed', 'confirmed', false, { err: ERR }],
  ['processed 10 failed, fork 9', 'sent', true, NOWHERE],
  ['processed 10 failed, confirmed 10', 'confirmed', false, { err: null }],
  ['block 10, processed 10 failed', 'processed', true, { err: null, evidence: 'block' }],
  ['processed 10 failed, block 10', 'processed', true, { err: null, evidence: 'block' }],
  ['block 10 confirmed, finalized 10 failed', 'confirmed', false, { err: null, evidence: 'block' }],
  ['confirmed 10 failed, finalized 10 failed', 'failed', false, { err: ERR, commitment: 'finalized' }],
  ['block 10 failed, finalized 10 failed', 'failed', false, { err: ERR }],
  ['claim 10 final', 'confirmed', false, { commitment: 'confirmed', evidence: 'claim', claimedSlot: 20 }],
  ['claim 10 final | claim 10 final 24 slots later, at once', 'confirmed', false, { evidence: 'claim' }],
  ['claim 10 final | claim 10 final 24 slots later', 'claimed', false, { commitment: 'finalized' }],
  [
    'claim 10 final | claim 10 final 24 slots later | claim 10 final a minute later',
    'finalized',
    false,
    { evidence: 'node' }
  ],
  [
    'claim 10 final | claim 10 final 24 slots later | finalized 10',
    'finalized',
    false,
    { evidence: 'nodes' }
  ],
  ['claim 10 final | claim 10 final 24 slots later | block 10', 'finalized', false, { evidence: 'block' }],
  ['claim 10 final | claim 10 final 24 slots later | fork 9', 'sent', true, { ...NOWHERE, evidence: null }],
  ['claim 10 final | claim 10 final 24 slots later | left', 'unresolved', false, { commitment: 'finalized' }],
  [
    'claim 10 final | claim 10 final 24 slots later | block 10 given',
    'finalized',
    false,
    { evidence: 'block', index: 7 }
  ],
  ['claim 10 final | claim 10 final 24 slots later | block 12 given', 'claimed', false, { index: null }],
  ['claim 10 final | block 10 given', 'confirmed', false, { evidence: 'claim' }],
  [
    'claim 10 final | claim 10 final 24 slots later | accepted',
    'finalized',
    false,
    { evidence: 'node', index: null }
  ],
  ['claim 10 final | claim 10 failed 24 slots later', 'confirmed', false, { err: ERR }],
  [
    'claim 10 final | doubted | claim 10 final 24 slots later',
    'confirmed',
    false,
    { claimedSlot: 44, claimedAtMs: 18_600 }
  ],
  [
    'claim 10 final | claim 10 final 24 slots later | doubted | claim 10 final a minute later',
    'claimed',
    false,
    { claimedAtMs: 69_000, commitment: 'finalized' }
  ],
  ['block 10 confirmed | claim 12 final', 'confirmed', false, { slot: 10, evidence: 'block' }],
  ['confirmed 10 | claim 12 final', 'confirmed', false, { slot: 10, evidence: 'nodes' }],
  ['claim 10 final | claim 12 final', 'confirmed', false, { slot: 12, claimedSlot: 50 }],
  ['block 10 | claim 10 final 24 slots later', 'finalized', false, { slot: 10, evidence: 'block' }],
  ['ended', 'expired', false, NOWHERE],
  ['ended, block 10', 'expired', false, NOWHERE],
  ['ended, send', 'expired', false, { sends: 0 }],
  ['processed 10, ended', 'processed', true, {}],
  ['confirmed 10, ended', 'confirmed', false, {}],
  ['send, left', 'unresolved', false, { sends: 1, ...NOWHERE }],
  ['left, block 10', 'unresolved', false, NOWHERE],
  ['confirmed 10, left', 'unresolved', false, { slot: 10, commitment: 'confirmed' }],
  ['block 10 failed, left', 'unresolved', false, NOWHERE],
  ['finalized 10, left', 'finalized', false, { slot: 10 }],
  ['restored', 'sent', true, RESTORED],
  ['restored, send again', 'sent', true, { sends: 4, firstSentAtMs: 500, lastSentAtMs: 3_000 }],
  ['restored 10', 'confirmed', false, { ...RESTORED, ...ON_10 }],
  ['restored 10, fork 9', 'sent', true, { ...NOWHERE, sends: 3 }]
]

for (const [path, state, loops, context] of TABLE) {
  t.test(`a transaction after ${path === '' ? 'nothing' : path} is ${state}`, async (t) => {
    let [snapshot] = initialTransition(transactionMachine)
    for (const word of path.split(path.includes('|') ? ' | ' : ', ').filter(Boolean))
      [snapshot] = transition(transactionMachine, snapshot, EVENTS[word]!)
    t.equal(stateName(snapshot.value), state)
    t.equal(isLooping(snapshot), loops)
    t.match(snapshot.context, context)
  })
}

t.test('a send changes no state, and counts alike in all but the final ones', async (t) => {
  const send = { type: 'send.made', atMs: 7_000, slot: 14, leaders: 1 } as const
  for (const path of [
    '',
    'send',
    'block 10',
    'block 10 failed',
    'confirmed 10',
    'finalized 10',
    'ended',
    'left'
  ]) {
    let [before] = initialTransition(transactionMachine)
    for (const word of path.split(', ').filter(Boolean))
      [before] = transition(transactionMachine, before, EVENTS[word]!)
    const [after] = transition(transactionMachine, before, send)
    t.equal(after.value, before.value)
    const { sends, leadersSent, firstSentAtMs, firstSentSlot } = before.context
    const sent = {
      sends: sends + 1,
      leadersSent: leadersSent + 1,
      firstSentAtMs: firstSentAtMs ?? 7_000,
      lastSentAtMs: 7_000,
      firstSentSlot: firstSentSlot ?? 14
    }
    t.same(after.context, before.status === 'done' ? before.context : { ...before.context, ...sent }, path)
  }
})
