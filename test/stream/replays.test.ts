import t from 'tap'
import { Replays } from '../../actors/stream/replays.ts'
import { processTurns, Turns } from '../../src/kernel/work/turns.ts'
import { advance, settle, virtualClock } from '../virtual-time.ts'

const never = (): Promise<never> => new Promise(() => undefined)

t.test('a replay waits for no piece of another tenant, and for its own as long as it takes', async (t) => {
  const clock = virtualClock()
  const replays = new Replays(new Turns(processTurns(clock)))
  const end = new AbortController()
  const greedy = Array.from({ length: 50 }, () => replays.turn('greedy', never, end.signal))
  const outcomes = Promise.allSettled(greedy)
  t.equal(replays.pieces, 50)
  t.equal(await replays.turn('careful', () => 'a page', end.signal), 'a page')
  // No client waits for an answer, so no wait is too long.
  await advance(clock, 3_600_000)
  t.equal(replays.pieces, 50)
  end.abort(new Error('the client has left'))
  await settle()
  t.equal(replays.pieces, 6, 'those that wait end with their client')
  void outcomes
})
