import fc from 'fast-check'
import t from 'tap'
import { GramIndex } from '../../src/data/gram-index.ts'
import { randomRuns } from '../random-runs.ts'

t.test(
  'every text that contains another is a candidate, once, and nothing is left of removed ones',
  async (t) => {
    const anyText = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '猫'), maxLength: 8 })
    fc.assert(
      fc.property(
        fc.array(anyText, { maxLength: 20 }),
        fc.infiniteStream(fc.boolean()),
        anyText,
        (texts, keeps, part) => {
          const index = new GramIndex()
          for (const [number, text] of texts.entries()) index.add(number, [text, text.slice(1)])
          const kept = texts.map(() => Boolean(keeps.next().value))
          for (const [number, text] of texts.entries())
            if (!kept[number]) index.remove(number, [text, text.slice(1)])
          const candidates = [...index.candidates(part)]
          t.equal(candidates.length, new Set(candidates).size)
          for (const [number, text] of texts.entries()) {
            const isCandidate = candidates.includes(number)
            if (!kept[number]) t.notOk(isCandidate)
            else if (part.length >= 2 && text.includes(part)) t.ok(isCandidate)
          }
          for (const [number, text] of texts.entries())
            if (kept[number]) index.remove(number, [text, text.slice(1)])
          t.equal(index.size, 0)
        }
      ),
      randomRuns(300, 3)
    )
  }
)
