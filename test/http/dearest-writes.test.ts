import t from 'tap'
import { openDearWorld } from './dear-world.ts'

t.test(
  'the dearest change of each endpoint, and batch of JSON-RPC, holds the event loop no longer than its slices',
  async (t) => {
    const world = await openDearWorld(t)
    await world.measureRpc()
    await world.measureAll('POST')
    // A delete removes what the other measurements need.
    await world.measureAll('DELETE')
    t.strictSame(world.refused, {})
  }
)
