import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { bundleMachine, type BundleEvent } from '../../machines/bundle.machine.ts'
import { stateName } from './explore.ts'

/** Events by the words of the table. */
const EVENTS: Record<string, BundleEvent['type']> = {
  began: 'submission.began',
  taken: 'submission.taken',
  untaken: 'submission.untaken',
  lost: 'submission.unsure',
  refused: 'submission.refused',
  pending: 'engine.pending',
  failed: 'engine.failed',
  unknown: 'engine.unknown',
  processed: 'members.processed',
  confirmed: 'members.confirmed',
  finalized: 'members.finalized',
  forked: 'members.lost',
  split: 'members.split',
  expired: 'members.expired'
}

const TABLE: [path: string, state: string][] = [
  ['', 'queued'],
  ['taken', 'queued'],
  ['failed', 'queued'],
  ['began', 'submitting'],
  ['began, untaken', 'queued'],
  ['began, untaken, began, taken', 'pending'],
  ['began, taken', 'pending'],
  ['began, taken, unknown', 'pending'],
  ['began, taken, pending', 'pending'],
  ['began, lost', 'unsure'],
  ['began, lost, pending', 'pending'],
  ['began, lost, unknown', 'queued'],
  ['began, lost, failed', 'rejected'],
  ['began, refused', 'rejected'],
  ['began, refused, unknown', 'rejected'],
  ['began, refused, expired', 'failed'],
  ['began, taken, failed', 'rejected'],
  ['began, taken, failed, pending', 'pending'],
  ['began, taken, failed, processed', 'processed'],
  ['began, taken, processed', 'processed'],
  ['began, taken, processed, failed', 'processed'],
  ['began, taken, processed, expired', 'processed'],
  ['began, taken, processed, forked', 'pending'],
  ['began, taken, processed, forked, expired', 'failed'],
  ['began, taken, processed, confirmed', 'confirmed'],
  ['began, taken, confirmed, processed', 'confirmed'],
  ['began, taken, confirmed, forked', 'pending'],
  ['began, taken, confirmed, finalized', 'finalized'],
  ['began, taken, finalized', 'finalized'],
  ['began, taken, finalized, forked', 'finalized'],
  ['began, taken, finalized, expired', 'finalized'],
  ['began, processed', 'processed'],
  ['processed', 'processed'],
  ['began, lost, confirmed', 'confirmed'],
  ['began, taken, split', 'failed'],
  ['began, taken, confirmed, split', 'failed'],
  ['began, taken, expired', 'failed'],
  ['expired', 'failed'],
  ['expired, processed', 'failed'],
  ['expired, pending', 'failed']
]

for (const [path, state] of TABLE) {
  t.test(`a bundle after ${path === '' ? 'nothing' : path} is ${state}`, async (t) => {
    let [snapshot] = initialTransition(bundleMachine)
    for (const word of path.split(', ').filter(Boolean))
      [snapshot] = transition(bundleMachine, snapshot, { type: EVENTS[word]! })
    t.equal(stateName(snapshot.value), state)
  })
}
