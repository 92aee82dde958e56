import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import t from 'tap'
import { isOnCurve, programAddress } from '../../src/signing/program-address.ts'
import { randomRuns } from '../random-runs.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })

t.test('32 bytes are a point of the curve if web3.js takes them for one', async () => {
  fc.assert(
    fc.property(key, (bytes) => isOnCurve(bytes) === PublicKey.isOnCurve(bytes)),
    randomRuns(300)
  )
})

t.test(
  'numbers at both ends of the field are points of the curve if web3.js takes them for one',
  async (t) => {
    for (let from = 0; from < 64; from++) {
      const low = new Uint8Array(32)
      low[0] = from
      const high = new Uint8Array(32).fill(255)
      // The field has 2^255 − 19 numbers.
      high[0] = 236 - from
      high[31] = 127
      for (const bytes of [low, high]) t.equal(isOnCurve(bytes), PublicKey.isOnCurve(bytes), bytes.toHex())
    }
  }
)

t.test('an address that is derived is the one that web3.js derives', async () => {
  const seeds = fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 3 })
  fc.assert(
    fc.property(seeds, key, (parts, program) => {
      const [address] = PublicKey.findProgramAddressSync(parts, new PublicKey(program))
      return Buffer.compare(programAddress(parts, program), address.toBytes()) === 0
    }),
    randomRuns(50)
  )
})
