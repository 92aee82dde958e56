import fc from 'fast-check'
import type { Test } from 'tap'
import type { Fact, FactList, FactStore } from '../../port.ts'

/** Opens the facts of a test, empty the first time. */
export type OpenFacts = () => Promise<FactStore>

const fact = (
  position: number,
  key: readonly number[],
  value: readonly number[] = [position % 256]
): Fact => ({
  position,
  key: Uint8Array.from(key),
  value: Uint8Array.from(value)
})

const addressOf = ({ position, key }: Fact): string => `${position} ${key.join()}`

async function allFrom(store: FactStore, list: FactList, position: number): Promise<Fact[]> {
  const found: Fact[] = []
  for await (const facts of store.from(list, position)) found.push(...facts)
  return found
}

const anyFact = fc.record({
  // Positions of the same and of different partitions of a cluster.
  position: fc.constantFrom(0, 1, 255, 256, 300, 70_000, 254_170_887, 2 ** 40),
  key: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
  value: fc.array(fc.nat(255), { minLength: 1, maxLength: 4 })
})

/** Promises of the store of facts; `runs` is the number of random runs. Each test has facts in lists of its own. */
export async function testFacts(t: Test, open: OpenFacts, runs: number): Promise<void> {
  t.test('facts come by position, then by key, and are there after a restart', async (t) => {
    const store = await open()
    const facts = [fact(7, [2]), fact(7, [1, 9]), fact(300, [0]), fact(254_170_887, [255]), fact(7, [1])]
    await store.put('block', facts)
    await store.put('row', [fact(8, [1])])
    const sorted = [facts[4], facts[1], facts[0], facts[2], facts[3]]
    t.strictSame(await allFrom(store, 'block', 0), sorted)
    await store.close()
    const again = await open()
    t.strictSame(await allFrom(again, 'block', 0), sorted)
    t.strictSame(await allFrom(again, 'block', 8), sorted.slice(3))
    t.strictSame(await again.at('block', 7), sorted.slice(0, 3))
    t.strictSame(await again.at('block', 9), [])
    t.strictSame(await allFrom(again, 'timed', 0), [])
    await again.close()
  })

  t.test('a fact replaces the one at its address', async (t) => {
    const store = await open()
    await store.put('mint', [fact(1, [5], [1])])
    await store.put('mint', [fact(1, [5], [2]), fact(1, [6], [3])])
    t.strictSame(await store.at('mint', 1), [fact(1, [5], [2]), fact(1, [6], [3])])
    await store.close()
  })

  t.test('a large value comes back as it was, among many', async (t) => {
    const store = await open()
    const value = Uint8Array.from({ length: 200_000 }, (_, at) => (at * 7) % 251)
    const many = Array.from({ length: 700 }, (_, at) => fact(at * 3, [1]))
    await store.put('timed', [...many, { position: 4, key: Uint8Array.of(9), value }])
    t.ok(Buffer.from((await store.at('timed', 4))[0]!.value).equals(value))
    const found = await allFrom(store, 'timed', 0)
    t.equal(found.length, 701)
    t.ok(found.every(({ position }, at) => at === 0 || found[at - 1]!.position <= position))
    await store.close()
  })

  t.test('random facts agree with a plain list', async (t) => {
    const store = await open()
    const model = new Map<string, Fact>()
    const property = fc.asyncProperty(
      fc.array(anyFact, { maxLength: 12 }),
      fc.nat(300),
      async (facts, from) => {
        const made = facts.map(({ position, key, value }) => fact(position, key, value))
        const distinct = [...new Map(made.map((each) => [addressOf(each), each])).values()]
        await store.put('row', distinct)
        for (const each of distinct) model.set(addressOf(each), each)
        const sorted = [...model.values()].sort(
          (a, b) => a.position - b.position || Buffer.compare(a.key, b.key)
        )
        // The first test has put one.
        const own = (each: Fact): boolean => each.position !== 8
        t.strictSame(
          (await allFrom(store, 'row', from)).filter(own),
          sorted.filter(({ position }) => position >= from)
        )
        t.strictSame(
          await store.at('row', 256),
          sorted.filter(({ position }) => position === 256)
        )
      }
    )
    await fc.assert(property, { numRuns: runs, seed: 1 })
    await store.close()
  })
}
