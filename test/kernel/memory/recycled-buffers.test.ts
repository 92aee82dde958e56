import fc from 'fast-check'
import t from 'tap'
import { RecycledBuffers } from '../../../src/kernel/memory/recycled-buffers.ts'
import { randomRuns } from '../../random-runs.ts'

const KB = 1024

t.test('a buffer that was given back is taken again, by a text that is a little shorter too', async (t) => {
  const buffers = new RecycledBuffers(256 * KB)
  const first = buffers.take(100 * KB)
  buffers.give(first)
  t.equal(buffers.take(90 * KB), first)
  buffers.give(first)
  t.not(buffers.take(20 * KB), first, 'it would waste most of it')
  t.not(buffers.take(110 * KB), first, 'it is too short')
  t.equal(buffers.take(100 * KB), first)
})

t.test('sizes that are no longer taken make room for those that are', async (t) => {
  const buffers = new RecycledBuffers(256 * KB)
  const large = Array.from({ length: 2 }, () => buffers.take(128 * KB))
  const small = Array.from({ length: 4 }, () => buffers.take(48 * KB))
  for (const buffer of [...large, ...small]) buffers.give(buffer)
  const again = new Set(small.map(() => buffers.take(48 * KB)))
  t.same(again, new Set(small))
  t.not(large.includes(buffers.take(128 * KB)), true)
})

t.test('a lower limit frees at once what is above it', async (t) => {
  const buffers = new RecycledBuffers(256 * KB)
  const taken = Array.from({ length: 2 }, () => buffers.take(128 * KB))
  for (const buffer of taken) buffers.give(buffer)
  buffers.limit(128 * KB)
  t.equal(buffers.bytes, 128 * KB)
  buffers.take(128 * KB)
  t.equal(buffers.bytes, 0)
})

t.test('no buffer has two users, none is too short, and what is kept has its limit', async () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 64 * KB }), fc.nat()), {
    maxLength: 60
  })
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 256 * KB }), (steps, bytesMax) => {
      const buffers = new RecycledBuffers(bytesMax)
      const used: Buffer[] = []
      for (const [isTaken, length, which] of steps)
        if (isTaken) {
          const buffer = buffers.take(length)
          if (buffer.length < length || used.includes(buffer)) return false
          used.push(buffer)
        } else if (used.length > 0) {
          buffers.give(used.splice(which % used.length, 1)[0]!)
          if (buffers.bytes > bytesMax) return false
        }
      return true
    }),
    randomRuns(200)
  )
})
