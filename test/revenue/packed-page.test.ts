import { createHash } from 'node:crypto'
import t from 'tap'
import { placeBlock, readRpcBlock } from '../../src/chain/rpc/block.ts'
import { packPage, partOf, type LedgerPart } from '../../src/revenue/packed-page.ts'
import { BLOCK_SLOT, fixtureBlock, testWithFixtures } from '../fixtures.ts'
import { changesOfAll } from './balance-totals.ts'

/** The digest of the pages that the first version with pages has written of these parts. */
const WRITTEN = 'f3a69c6006f19bb20bc7b11af24f1c8332c55fbbc87dca92bcafce8f1eca3440'

/** The parts of every address of the recorded block, with and without values. */
function recordedParts(): readonly LedgerPart[] {
  const outcome = readRpcBlock(fixtureBlock(), BLOCK_SLOT)
  if (outcome.kind !== 'block') throw new Error(outcome.kind)
  const { transactions } = placeBlock(outcome.block)!
  return [...changesOfAll(transactions)].map(([address, changes], place) => ({
    address,
    slot: BLOCK_SLOT,
    blockTime: 1_730_000_000,
    blockhash: place % 3 === 0 ? null : 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N',
    entries: changes.map((change, index) => ({
      ...change,
      valueUsd: index % 4 === 0 ? null : index * 1.37 - 2,
      feeUsd: index % 5 === 0 ? 0.000_75 : null
    }))
  }))
}

testWithFixtures(t, 'pages of the recorded block are written with the bytes of earlier versions', (t) => {
  const digest = createHash('sha256')
  const parts = recordedParts()
  for (const part of parts) {
    const { value } = packPage(part)
    digest.update(value)
    t.strictSame(partOf({ owner: part.address, slot: part.slot, value }), part)
  }
  t.ok(parts.length > 400, `${parts.length} pages`)
  t.equal(digest.digest('hex'), WRITTEN)
})
