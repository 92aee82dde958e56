import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { TOKEN_PROGRAM_NAMES } from '../../src/accounts/token-program.ts'
import { packHoldings, unpackHoldings } from '../../src/holders/holding-bytes.ts'
import { byValue, PIECE } from '../../src/holders/holdings.ts'
import { DOCUMENT_BYTES_MAX } from '../../storage/document-values.ts'
import { randomRuns } from '../random-runs.ts'

const number = fc.double({ min: 0, noNaN: true })
const fields = {
  mint: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  amount: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  decimals: fc.option(fc.integer({ min: 0, max: 254 })),
  priceUsd: fc.option(number),
  priceAt: fc.option(fc.nat()),
  valueUsd: fc.option(number),
  tokenProgram: fc.constantFrom(...TOKEN_PROGRAM_NAMES),
  accounts: fc.nat(),
  isFrozen: fc.boolean()
}
const holding = fc.record(fields, { noNullPrototype: true })

t.test('holdings are packed as they are', async (t) => {
  fc.assert(
    fc.property(fc.array(holding, { maxLength: 20 }), (list) => {
      const bytes = packHoldings(list)
      const packed = unpackHoldings(bytes)
      // Bytes of a view in a larger buffer are read as well.
      const inside = new Uint8Array(bytes.length + 3)
      inside.set(bytes, 3)
      return isDeepStrictEqual(packed, list) && isDeepStrictEqual(unpackHoldings(inside.subarray(3)), list)
    }),
    randomRuns(200)
  )
  const [one] = fc.sample(holding, randomRuns(1))
  const bytes = packHoldings(Array.from({ length: PIECE }, () => one!))
  t.ok(Buffer.from(bytes).toString('base64').length < DOCUMENT_BYTES_MAX - 1_000, 'a piece fits a document')
})

t.test(
  'holdings come by value, those of one value by the bytes of their mint, those without one last',
  async (t) => {
    const of = (mint: number, valueUsd: number | null) => ({
      ...fc.sample(holding, randomRuns(1))[0]!,
      mint: new Uint8Array(32).fill(mint),
      valueUsd
    })
    const sorted = [of(5, null), of(9, 1), of(7, 0), of(3, 1), of(1, null), of(8, 2)].sort(byValue)
    t.strictSame(
      sorted.map(({ mint }) => mint[0]),
      [8, 3, 9, 7, 1, 5]
    )
  }
)
