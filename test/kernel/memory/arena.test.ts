import t from 'tap'
import { Arena } from '../../../src/kernel/memory/arena.ts'

t.test('memory that is taken does not overlap memory taken since the last use', async (t) => {
  const arena = new Arena({ left: 10_000 }, 1_000)
  for (let page = 0; page < 4; page++) {
    const taken = [100, 0, 300, 50].map((length) => arena.allocate(length))
    for (const [i, bytes] of taken.entries()) bytes.fill(i + 1)
    t.strictSame(
      taken.map((bytes) => [bytes.length, new Set(bytes)]),
      [100, 0, 300, 50].map((length, i) => [length, new Set(length === 0 ? [] : [i + 1])]),
      `page ${page}`
    )
    arena.reuse()
  }
})

t.test('a page as large as the one before takes its memory', async (t) => {
  const arena = new Arena({ left: 10_000 }, 1_000)
  arena.allocate(400)
  arena.reuse()
  const first = arena.allocate(400)
  arena.reuse()
  const second = arena.allocate(400)
  t.equal(second.buffer, first.buffer)
  t.equal(second.byteOffset, first.byteOffset)
})

t.test('memory that is left is not given again', async (t) => {
  const arena = new Arena({ left: 10_000 }, 1_000)
  arena.allocate(400)
  arena.reuse()
  const left = arena.allocate(400)
  arena.leave()
  t.not(arena.allocate(400).buffer, left.buffer)
  arena.reuse()
  t.not(arena.allocate(400).buffer, left.buffer)
})

t.test('a request larger than the arena gets its own memory, which is not kept', async (t) => {
  const arena = new Arena({ left: 10_000 }, 300)
  arena.allocate(400)
  arena.reuse()
  const large = arena.allocate(400)
  const small = arena.allocate(200)
  t.equal(large.buffer.byteLength, 400)
  t.equal(small.buffer.byteLength, 300)
  arena.reuse()
  t.not(arena.allocate(400).buffer, large.buffer)
})

t.test('arenas keep no more together than their budget has, and give back what they keep', async (t) => {
  const budget = { left: 500 }
  const [one, two] = [new Arena(budget, 1_000), new Arena(budget, 1_000)]
  const keeps = (arena: Arena): boolean => {
    arena.leave()
    const first = arena.allocate(400).buffer
    arena.reuse()
    const second = arena.allocate(400).buffer
    arena.reuse()
    return first === second || arena.allocate(400).buffer === second
  }
  t.equal(keeps(one), true)
  t.equal(budget.left, 100)
  t.equal(keeps(two), false)
  one.leave()
  t.equal(budget.left, 500)
  t.equal(keeps(two), true)
})
