import { join } from 'node:path'
import t from 'tap'
import { ServedArchive } from '../../src/archive/served-archive.ts'
import { DECODER_VERSION } from '../../src/chain/decoder-version.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { recordDecoding } from '../../src/ingest/decoding-periods.ts'
import type { Storage } from '../../storage/port.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { ownDirectory } from '../own-directory.ts'
import { block, NOON } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

/** Later than the sample blocks. */
const LIVE = 500_000_000

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

t.test(
  'coverage says to tenants which slots are live, archived, partial and missing, in pages of any size',
  async (t) => {
    const archive = new ServedArchive()
    const app = await marketApp(t, undefined, { archive })
    const read = async (query = '') => (await app.get(`/v1/coverage${query}`)).body
    t.match(await read(), { tenant: 'acme', data: [], nextCursor: null, archive: null })
    for (const slot of [100, 101, 105, 110]) await app.commit(block(LIVE + slot, NOON + slot, []))
    const gap = {
      from: LIVE + 102,
      to: LIVE + 104,
      reason: 'pruned',
      detail: 'node.internal has none',
      atMs: NOON * 1_000
    }
    await app.storage.coverage.addGap(gap)
    const imported = await openEmbeddedStorage({ directory: join(ownDirectory(t), 'archive') })
    t.teardown(() => imported.close())
    const rows = [emptyBlock(1), emptyBlock(2)]
    for (const each of rows) await imported.blocks.commit(each)
    const [first, last] = rows.map(({ slot }) => slot) as [SlotRow, SlotRow]
    archive.set({ archive: { storage: imported, first, last, isAdjacent: false }, reason: null })
    const whole = await read()
    t.strictSame(
      whole.data.map(({ state, from_slot, to_slot, from_ms, to_ms, reason }) => [
        state,
        from_slot,
        to_slot,
        from_ms,
        to_ms,
        reason
      ]),
      [
        ['archive', first.slot, last.slot, first.blockTime * 1_000, last.blockTime * 1_000, null],
        ['missing', last.slot + 1, LIVE + 99, last.blockTime * 1_000, (NOON + 100) * 1_000, 'not_imported'],
        ['live', LIVE + 100, LIVE + 101, (NOON + 100) * 1_000, (NOON + 101) * 1_000, null],
        ['missing', LIVE + 102, LIVE + 104, (NOON + 101) * 1_000, (NOON + 105) * 1_000, 'pruned'],
        ['live', LIVE + 105, LIVE + 110, (NOON + 105) * 1_000, (NOON + 110) * 1_000, null]
      ]
    )
    t.match(whole, { archive: { served: true, last_slot: last.slot, reason: null }, nextCursor: null })
    t.strictSame(
      whole.data.map(({ venues, decoder_version, origin }) => [venues, decoder_version, origin]),
      [
        [null, null, 'blocks'],
        [[], null, null],
        [null, null, 'blocks'],
        [[], null, null],
        [null, null, 'blocks']
      ],
      'the venues of a store that has not recorded them are unknown'
    )
    t.notMatch(JSON.stringify(whole), /internal/, 'details are for the operator')
    for (const limit of [1, 2, 3, 5]) {
      const pages: unknown[] = []
      for (let after = ''; ;) {
        const page = await read(`?limit=${limit}${after}`)
        pages.push(...page.data)
        if (page.nextCursor === null) break
        after = `&after=${page.nextCursor}`
      }
      t.strictSame(pages, whole.data, `pages of ${limit}`)
    }
    archive.set({
      archive: { storage: imported, first, last, isAdjacent: false },
      reason: 'it overlaps, at /data'
    })
    const unserved = await read()
    t.match(unserved.data[0], { state: 'live', from_slot: LIVE + 100 })
    t.match(unserved, { archive: { served: false, reason: 'overlaps_live' } })
    const damaged: Storage = { ...imported, damage: ['a table is torn'] }
    archive.set({ archive: { storage: damaged, first, last, isAdjacent: false }, reason: 'a table is torn' })
    t.match(await read(), { archive: { served: false, reason: 'unreadable' } })
    t.equal((await read('?after=x')).code, 'invalid_cursor')
  }
)

t.test(
  'coverage says which venues were decoded in each range, and lists the ranges of one venue',
  async (t) => {
    const app = await marketApp(t)
    await recordDecoding(app.storage, null, new Set(['raydium-cpmm']))
    await app.commit(block(LIVE + 100, NOON, []))
    await app.commit(block(LIVE + 101, NOON, []))
    await recordDecoding(app.storage, await app.storage.blocks.head(), undefined)
    for (const slot of [102, 105, 108]) await app.commit(block(LIVE + slot, NOON, []))
    for (const slot of [103, 106]) {
      const gap = {
        from: LIVE + slot,
        to: LIVE + slot + 1,
        reason: 'pruned',
        detail: 'gone',
        atMs: NOON * 1_000
      }
      await app.storage.coverage.addGap(gap)
    }
    const read = async (query = '') => (await app.get(`/v1/coverage${query}`)).body
    const rangesOf = (data: readonly Record<string, unknown>[]) =>
      data.map(({ from_slot, to_slot }) => [(from_slot as number) - LIVE, (to_slot as number) - LIVE])
    const whole = await read()
    const [cpmm, all] = whole.data
    t.match(
      [cpmm, all],
      [
        { state: 'live', venues: ['raydium-cpmm'], decoder_version: DECODER_VERSION, origin: 'blocks' },
        { state: 'live', venues: VENUE_IDS, decoder_version: DECODER_VERSION, origin: 'blocks' }
      ]
    )
    t.strictSame(rangesOf(whole.data), [
      [100, 101],
      [102, 102],
      [103, 104],
      [105, 105],
      [106, 107],
      [108, 108]
    ])
    const pumpswap = [
      [102, 102],
      [105, 105],
      [108, 108]
    ]
    t.strictSame(rangesOf((await read('?venue=pumpswap')).data), pumpswap)
    t.strictSame((await read('?venue=raydium-cpmm')).data.length, 4)
    const paged: unknown[] = []
    for (let after = ''; ;) {
      const page = await read(`?venue=pumpswap&limit=1${after}`)
      paged.push(...rangesOf(page.data))
      if (page.nextCursor === null) break
      after = `&after=${page.nextCursor}`
    }
    t.strictSame(paged, pumpswap, 'also a page at a time')
    const refused = await read('?venue=serum')
    t.match([refused.code, refused.detail], ['invalid_parameter', /venue/])
    const headers = { 'x-api-key': await app.makeKey(['admin']) }
    const { ranges } = (await app.get('/v1/admin/coverage', headers)).body as unknown as { ranges: unknown[] }
    t.match(ranges.slice(0, 2), [
      { from_slot: LIVE + 100, to_slot: LIVE + 101, venues: ['raydium-cpmm'] },
      { from_slot: LIVE + 102, to_slot: LIVE + 102, venues: VENUE_IDS, decoder_version: DECODER_VERSION }
    ])
  }
)
