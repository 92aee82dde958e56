import t from 'tap'
import { UnsettledBatches } from '../../src/transactions/unsettled-batches.ts'

/** Returns below which number batches of a tenant were settled during a read in which something happens. */
async function settledBelow(batches: UnsettledBatches, happens: () => void): Promise<number> {
  const { found, settledBelow } = await batches.during('acme', async () => {
    happens()
    return 'rows'
  })
  t.equal(found, 'rows')
  return settledBelow
}

t.test('a read tells the lowest number of its tenant that was unsettled at any moment of it', async (t) => {
  const batches = new UnsettledBatches()
  t.equal(await settledBelow(batches, () => undefined), Infinity)
  t.equal(await settledBelow(batches, () => batches.begin('acme', 7)), 7, 'begun meanwhile')
  t.equal(await settledBelow(batches, () => batches.end('acme')), 7, 'settled meanwhile')
  const next = (): void => {
    for (const number of [8, 9]) {
      batches.begin('acme', number)
      batches.end('acme')
    }
  }
  t.equal(await settledBelow(batches, next), 8, 'begun and settled meanwhile')
  t.equal(await settledBelow(batches, () => batches.begin('other', 1)), Infinity, 'of another tenant')
})

t.test('a read that fails is forgotten, and fails with its error', async (t) => {
  const batches = new UnsettledBatches()
  await t.rejects(
    batches.during('acme', () => Promise.reject(new Error('away'))),
    /away/
  )
  t.equal(await settledBelow(batches, () => undefined), Infinity)
})
