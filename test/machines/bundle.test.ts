import t from 'tap'
import { initialTransition, transition } from 'xstate'
import { bundleMachine, type BundleEvent } from '../../machines/bundle.machine.ts'
import { stateName } from './explore.ts'

/** Events by the words of the table. */
const EVENTS: Record<string, BundleEvent['type']> = {
  began: 'submission.began',
  accepted: 'submission.accepted',
  deferred: 'submission.deferred',
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
  ['accepted', 'queued'],
  ['failed', 'queued'],
  ['began', 'submitting'],
  ['began, deferred', 'queued'],
  ['began, deferred, began, accepted', 'pending'],
  ['began, accepted', 'pending'],
  ['began, accepted, unknown', 'pending'],
  ['began, accepted, pending', 'pending'],
  ['began, lost', 'unsure'],
  ['began, lost, pending', 'pending'],
  ['began, lost, unknown', 'queued'],
  ['began, lost, failed', 'rejected'],
  ['began, refused', 'rejected'],
  ['began, refused, unknown', 'rejected'],
  ['began, refused, expired', 'failed'],
  ['began, accepted, failed', 'rejected'],
  ['began, accepted, failed, pending', 'pending'],
  ['began, accepted, failed, processed', 'processed'],
  ['began, accepted, processed', 'processed'],
  ['began, accepted, processed, failed', 'processed'],
  ['began, accepted, processed, expired', 'processed'],
  ['began, accepted, processed, forked', 'pending'],
  ['began, accepted, processed, forked, expired', 'failed'],
  ['began, accepted, processed, confirmed', 'confirmed'],
  ['began, accepted, confirmed, processed', 'confirmed'],
  ['began, accepted, confirmed, forked', 'pending'],
  ['began, accepted, confirmed, finalized', 'finalized'],
  ['began, accepted, finalized', 'finalized'],
  ['began, accepted, finalized, forked', 'finalized'],
  ['began, accepted, finalized, expired', 'finalized'],
  ['began, processed', 'processed'],
  ['processed', 'processed'],
  ['began, lost, confirmed', 'confirmed'],
  ['began, accepted, split', 'failed'],
  ['began, accepted, confirmed, split', 'failed'],
  ['began, accepted, expired', 'failed'],
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
