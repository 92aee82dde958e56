import t from 'tap'
import { DECODER_VERSION } from '../../src/chain/decoder-version.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import { readDecodingPeriods, recordDecoding } from '../../src/ingest/decoding-periods.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { testWithCql } from '../servers/cql.ts'
import { lendKeyspace } from '../storage/scylla-keyspace.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const CPMM = new Set<VenueId>(['raydium-cpmm'])
const LOST = { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE, detail: /another process writes now/ }
const PUMPSWAP = new Set<VenueId>(['pumpswap'])

testWithCql(t, 'a leader that was replaced records no decoding', async (t, server) => {
  const options = await lendKeyspace(t, server)
  const [stale, leader] = [await openScyllaStorage(options), await openScyllaStorage(options)]
  t.teardown(() => Promise.all([stale.close(), leader.close()]))
  const periods = () => readDecodingPeriods(leader)
  const pumpswap = { from: 0, venues: ['pumpswap'], decoderVersion: DECODER_VERSION }

  const before = await stale.blocks.claim(null)
  await stale.blocks.confirmClaim()
  await leader.blocks.claim(null)
  await recordDecoding(leader, null, PUMPSWAP)
  await leader.blocks.commit(emptyBlock(0))
  await t.rejects(recordDecoding(stale, before, CPMM), LOST, 'after the claim')
  t.strictSame(await periods(), [pumpswap])

  // The other process claims the store at the last moment, with the previous settings: no period changes.
  const head = await stale.blocks.claim(null)
  let overtakes = true
  const late = {
    ...stale,
    blocks: {
      confirmClaim: async () => {
        await stale.blocks.confirmClaim()
        if (!overtakes) return
        overtakes = false
        await recordDecoding(leader, await leader.blocks.claim(null), PUMPSWAP)
      }
    }
  }
  await t.rejects(recordDecoding(late, head, CPMM), LOST, 'between its check and its write')
  t.strictSame(await periods(), [pumpswap])

  await stale.blocks.claim(null)
  await recordDecoding(stale, head, CPMM)
  const cpmm = { ...pumpswap, from: head!.slot + 1, venues: ['raydium-cpmm'] }
  t.strictSame(await periods(), [pumpswap, cpmm], 'a claimant records its own')
  await t.rejects(leader.blocks.confirmClaim(), LOST)
})
