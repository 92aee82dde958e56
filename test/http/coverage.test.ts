import t from 'tap'
import { block, NOON } from '../market/world.ts'
import { marketApp } from './market-app.ts'

t.test('coverage says what is indexed and what was given up, to administrators', async (t) => {
  const app = await marketApp(t)
  const headers = { 'x-api-key': await app.makeKey(['admin']) }
  const get = async (path: string) => (await app.get(path, headers)).body
  t.match(await get('/v1/admin/coverage'), {
    genesis: null,
    ranges: [],
    gaps: [],
    rows_from: null,
    next_from_slot: null
  })
  for (const slot of [100, 101, 105]) await app.commit(block(slot, NOON + slot, []))
  const gap = { from: 102, to: 104, reason: 'pruned', detail: 'no node has them', atMs: NOON * 1_000 }
  await app.storage.coverage.addGap(gap)
  await app.storage.coverage.settleGenesis('5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d')
  t.match(await get('/v1/admin/coverage'), {
    genesis: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    ranges: [
      { from_slot: 100, to_slot: 101 },
      { from_slot: 105, to_slot: 105 }
    ],
    gaps: [{ from_slot: 102, to_slot: 104, reason: 'pruned', detail: 'no node has them' }],
    next_from_slot: null
  })
  t.match(await get('/v1/admin/coverage?from_slot=103'), {
    ranges: [{ from_slot: 103, to_slot: 105 }],
    gaps: []
  })
  const refused = await get('/v1/admin/coverage?from_slot=x')
  t.match([refused.code, refused.detail], ['invalid_parameter', /from_slot/])
  t.equal((await app.get('/v1/admin/coverage', { 'x-api-key': app.key })).status, 403)
})
