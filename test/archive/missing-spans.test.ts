import fc from 'fast-check'
import t from 'tap'
import { missingSpans, type StoredSlot } from '../../src/archive/missing-spans.ts'
import { randomRuns } from '../random-runs.ts'

/** A chain in which some slots have a block, of which some are stored. */
const anyStore = fc
  .array(fc.record({ skipped: fc.integer({ min: 0, max: 4 }), isStored: fc.boolean() }), { maxLength: 40 })
  .map((steps) => {
    let slot = 1_000
    return steps.map(({ skipped, isStored }) => {
      const parentSlot = slot
      slot += 1 + skipped
      return { slot, parentSlot, isStored }
    })
  })

/** Yields stored blocks two at a time, and some of them twice, as another decoder has read them. */
async function* storedFrom(
  rows: readonly { readonly slot: number; readonly parentSlot: number }[],
  from: number
): AsyncGenerator<readonly StoredSlot[], void> {
  const stored = rows
    .filter(({ slot }) => slot >= from)
    .map(({ slot, parentSlot }) => ({ slot, parentSlot: () => parentSlot }))
  const repeated = stored.flatMap((each) => (each.slot % 7 === 0 ? [each, each] : [each]))
  for (let at = 0; at < repeated.length; at += 2) yield repeated.slice(at, at + 2)
}

t.test(
  'spans have every slot whose block is not stored, and no slot that the chain has skipped',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        anyStore,
        fc.integer({ min: 990, max: 1_200 }),
        fc.integer({ min: 0, max: 200 }),
        async (chain, from, length) => {
          const to = from + length
          const rows = chain.filter(({ isStored }) => isStored)
          const spans = await missingSpans(storedFrom(rows, from), { from, to })
          const isMissing = (slot: number): boolean =>
            spans.some((span) => slot >= span.from && slot <= span.to)
          for (const { slot, isStored } of chain)
            if (slot >= from && slot <= to) t.equal(isMissing(slot), !isStored, `slot ${slot}`)
          for (const { slot, parentSlot } of rows)
            for (let skipped = parentSlot + 1; skipped < slot; skipped++) t.notOk(isMissing(skipped))
          for (const [at, span] of spans.entries())
            t.ok(
              span.from >= Math.max(from, (spans[at - 1]?.to ?? -1) + 1) &&
                span.from <= span.to &&
                span.to <= to
            )
        }
      ),
      randomRuns(200)
    )
  }
)
