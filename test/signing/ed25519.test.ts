import { Keypair } from '@solana/web3.js'
import t from 'tap'
import { isSigned, signerOf, unsignedIndex } from '../../src/signing/ed25519.ts'

const MESSAGE = Uint8Array.of(1, 2, 3)
/** Order of the group of the curve, and the field's prime. */
const PRIME = 2n ** 255n - 19n

t.test('a signer of a seed is the one of web3.js, and its signature verifies', (t) => {
  const seed = new Uint8Array(32).fill(7)
  const signer = signerOf(seed)
  t.same([...signer.address], [...Keypair.fromSeed(seed).publicKey.toBytes()])
  const wire = { keys: signer.address, message: MESSAGE, signatures: [signer.sign(MESSAGE)] }
  t.equal(isSigned(wire), true)
  t.equal(isSigned({ ...wire, message: Uint8Array.of(1, 2, 4) }), false)
  t.end()
})

t.test('the first account without its signature is named', (t) => {
  const [a, b, c] = [1, 2, 3].map((seed) => signerOf(new Uint8Array(32).fill(seed)))
  const keys = Uint8Array.from([...a!.address, ...b!.address, ...c!.address])
  const signatures = [a!.sign(MESSAGE), c!.sign(MESSAGE), b!.sign(MESSAGE)]
  t.equal(unsignedIndex({ keys, message: MESSAGE, signatures }), 1)
  t.equal(unsignedIndex({ keys, message: MESSAGE, signatures: signatures.slice(0, 1) }), null)
  t.end()
})

t.test('bytes that are no point of the curve have no signature', (t) => {
  const keys = new Uint8Array(32).fill(2)
  t.equal(unsignedIndex({ keys, message: MESSAGE, signatures: [new Uint8Array(64).fill(9)] }), 0)
  t.end()
})

t.test('a key of small order is refused, although its signature verifies by the formula', (t) => {
  // R = the neutral point and S = 0 verify under the neutral point, whatever the message.
  const neutral = littleEndian(1n)
  const forged = Uint8Array.from([...neutral, ...new Uint8Array(32)])
  for (const y of [0n, 1n, PRIME - 1n, PRIME, PRIME + 1n])
    for (const sign of [0, 0x80]) {
      const key = littleEndian(y)
      key[31]! |= sign
      t.equal(isSigned({ keys: key, message: MESSAGE, signatures: [forged] }), false, `y = ${y}`)
    }
  t.end()
})

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn))
}
