import t from 'tap'
import fc from 'fast-check'
import { AddressNumbers } from '../../src/holders/address-numbers.ts'
import { randomRuns } from '../random-runs.ts'

/** Addresses of which many are equal, or begin with equal bytes. */
const address = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 20 }))
  .map(([first, last]) => Uint8Array.from({ length: 32 }, (_, at) => (at < 4 ? 252 + first : last)))

t.test('an address has the number of its first time, whatever follows it', async (t) => {
  fc.assert(
    fc.property(fc.array(address, { maxLength: 100 }), (list) => {
      const numbers = new AddressNumbers(list.length)
      const texts: string[] = []
      for (const bytes of list) {
        const text = bytes.toHex()
        if (!texts.includes(text)) texts.push(text)
        const longer = new Uint8Array(40).fill(7)
        longer.set(bytes)
        if (numbers.of(longer) !== texts.indexOf(text)) return false
      }
      return numbers.addresses.map((each) => each.toHex()).join() === texts.join()
    }),
    randomRuns(200)
  )
  t.equal(new AddressNumbers(0).addresses.length, 0)
})
