import t from 'tap'
import { openDearWorld } from './dear-world.ts'

/**
 * Requests that the store cannot make dear: they are refused, with this status. A new endpoint is not among them: the store
 * is to have rows for it.
 */
const REFUSED: Readonly<Record<string, number>> = {
  'GET /v1/stream': 426,
  // Hosts of images are not in the store.
  'GET /v1/tokens/{mint}/image': 501,
  'GET /problems/{name}': 404,
  'GET /docs/{file}': 404,
  'GET /page/{version}/*': 404
}

t.test('the dearest read of each endpoint holds the event loop no longer than its slices', async (t) => {
  const world = await openDearWorld(t)
  await world.measureUndeclared()
  await world.measureAll('GET')
  t.strictSame(world.refused, REFUSED)
})
