import t from 'tap'
import { Places } from './places.ts'
import type { Unit } from './test-unit.ts'
import { isHeavy } from './tiers.ts'

const unitsNamed = (...names: readonly string[]): Unit[] => names.map((name) => [name])
const HEAVY_ONES = ['test/service/put-back.test.ts', 'test/service/real-node.test.ts'] as const

t.test(
  'beside a heavy file one waiting and one computing file run; after them all places are taken',
  async (t) => {
    const places = new Places(
      {
        starting: unitsNamed(...HEAVY_ONES, 's1', 's2', 's3'),
        waiting: unitsNamed('w1', 'w2'),
        computing: unitsNamed('c1', 'c2', 'c3')
      },
      2
    )
    const takeAll = (): string[] => {
      const taken: string[] = []
      for (let unit = places.take(); unit !== null; unit = places.take()) {
        taken.push(unit[0]!)
        running.set(unit[0]!, unit)
      }
      return taken
    }
    const running = new Map<string, Unit>()
    const end = (name: string): string[] => {
      places.release(running.get(name)!)
      return takeAll()
    }
    t.same(takeAll(), ['c1', 'w1', HEAVY_ONES[0]])
    t.same(end('w1'), ['w2'])
    t.same(end(HEAVY_ONES[0]), [HEAVY_ONES[1]], 'heavy ones follow each other')
    t.same(end('w2'), ['s1'])
    t.same(end('c1'), ['c2'])
    t.same(end(HEAVY_ONES[1]), ['s2'])
    t.same(end('c2'), ['c3'])
    t.same(end('s1'), ['s3'])
    t.same(end('s2'), [], 'nothing is left')
  }
)

t.test('no file is left, and no two heavy ones run at once, whatever the number of places', async (t) => {
  for (const jobs of [1, 2, 3, 4, 5, 8]) {
    const starting = unitsNamed('s1', ...HEAVY_ONES, 's2', 's3')
    const computing = unitsNamed('c1', 'c2', 'c3', 'c4')
    const all = [...starting, ...unitsNamed('w1', 'w2', 'w3'), ...computing]
    const places = new Places({ starting, waiting: unitsNamed('w1', 'w2', 'w3'), computing }, jobs)
    const running: Unit[] = []
    const ended: Unit[] = []
    do {
      for (let unit = places.take(); unit !== null; unit = places.take()) running.push(unit)
      t.ok(running.length <= (jobs === 1 ? 1 : jobs + 1), `${running.length} at once on ${jobs} places`)
      t.ok(running.flat().filter(isHeavy).length <= 1)
      const [over] = running.splice(ended.length % running.length, 1)
      ended.push(over!)
      places.release(over!)
    } while (running.length > 0 || ended.length < all.length)
    t.same(ended.flat().toSorted(), all.flat().toSorted())
  }
})

t.test('computing files alone take all places', async (t) => {
  const places = new Places({ starting: [], waiting: [], computing: unitsNamed('a', 'b', 'c', 'd') }, 3)
  t.same([places.take(), places.take(), places.take(), places.take()], [['a'], ['b'], ['c'], null])
})
