import t from 'tap'
import { z } from 'zod'
import { DECODER_VERSION } from '../../src/chain/decoder-version.ts'
import { VENUE_IDS, type VenueId } from '../../src/chain/venue-id.ts'
import { readDecodingPeriods, recordDecoding } from '../../src/ingest/decoding-periods.ts'
import { Documents } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { ownDirectory } from '../own-directory.ts'

const CPMM = new Set<VenueId>(['raydium-cpmm'])
const slotRow = (slot: number) => ({ ...emptyBlock(0).slot, slot })

t.test('the decoding of a store is recorded from the slot after the head on, where it changes', async (t) => {
  const directory = ownDirectory(t)
  const store = await openEmbeddedStorage({ directory })
  t.strictSame(await readDecodingPeriods(store), [])
  const cpmm = { from: 0, venues: ['raydium-cpmm'], decoderVersion: DECODER_VERSION }
  t.strictSame(await recordDecoding(store, null, CPMM), [cpmm])
  t.strictSame(await recordDecoding(store, slotRow(9), CPMM), [cpmm], 'the same settings change nothing')
  const all = { from: 10, venues: VENUE_IDS, decoderVersion: DECODER_VERSION }
  t.strictSame(await recordDecoding(store, slotRow(9), undefined), [cpmm, all])
  t.strictSame(
    await recordDecoding(store, slotRow(9), CPMM),
    [cpmm],
    'a period without a block is replaced by the next one'
  )
  t.strictSame(await recordDecoding(store, slotRow(19), undefined), [cpmm, { ...all, from: 20 }])
  await store.close()
  const opened = await openEmbeddedStorage({ directory })
  t.teardown(() => opened.close())
  t.strictSame(await readDecodingPeriods(opened), [cpmm, { ...all, from: 20 }])
  t.strictSame(
    await recordDecoding(opened, null, undefined),
    [{ ...all, from: 0 }],
    'an emptied store begins anew'
  )
})

t.test('blocks from before the first record stay unknown', async (t) => {
  const store = await openEmbeddedStorage({ directory: ownDirectory(t) })
  t.teardown(() => store.close())
  const periods = await recordDecoding(store, slotRow(99), CPMM)
  t.strictSame(periods, [{ from: 100, venues: ['raydium-cpmm'], decoderVersion: DECODER_VERSION }])
})

t.test(
  'periods in documents of their own, as an earlier version wrote them, are read and continued',
  async (t) => {
    const store = await openEmbeddedStorage({ directory: ownDirectory(t) })
    t.teardown(() => store.close())
    const earlier = { from: 3, venues: ['raydium-cpmm' as const], decoderVersion: 1 }
    const documents = new Documents(store.documents, {
      kind: 'decoding period',
      schema: z.object({ from: z.number(), venues: z.array(z.enum(VENUE_IDS)), decoderVersion: z.number() }),
      partition: () => 'chain',
      key: ({ from }) => [from]
    })
    await documents.insert(earlier)
    t.strictSame(await readDecodingPeriods(store), [earlier])
    const next = { from: 10, venues: ['raydium-cpmm'], decoderVersion: DECODER_VERSION }
    t.strictSame(await recordDecoding(store, slotRow(9), CPMM), [earlier, next])
    t.strictSame(await readDecodingPeriods(store), [earlier, next])
  }
)
